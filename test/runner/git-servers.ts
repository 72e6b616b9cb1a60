import { execFile, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as TcpServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { GitReach } from '../../src/code-hosts/git-reach.js';

const execute = promisify(execFile);
const IDENTITY = ['-c', 'user.name=t', '-c', 'user.email=t@example.org'];
const FILES = ['-c', 'protocol.file.allow=always'];

/** Permitted targets: everything on this machine, and its own addresses. */
export const HERE = new GitReach({
  PROJECT_SCM_SCHEMES: ['file', 'http', 'ssh'],
  PROJECT_FILE_ROOTS: ['/'],
  OUTBOUND_ALLOW: ['127.0.0.0/8'],
  DATA_DIR: '/var/lib/none',
});

/** A repository that a test writes to. */
export class TestRepository {
  private constructor(readonly dir: string) {}

  /** @param files of its first commit */
  static async create(dir: string, files: Record<string, string>): Promise<TestRepository> {
    const repository = new TestRepository(dir);
    await mkdir(dir, { recursive: true });
    await repository.git('init', '-q', '-b', 'main');
    await repository.commit(files);
    return repository;
  }

  get url(): string {
    return `file://${this.dir}`;
  }

  async git(...args: string[]): Promise<string> {
    const { stdout } = await execute('git', [...IDENTITY, ...FILES, ...args], { cwd: this.dir });
    return stdout.trim();
  }

  /** @returns the id of the commit */
  async commit(files: Record<string, string>): Promise<string> {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(this.dir, name)), { recursive: true });
      await writeFile(join(this.dir, name), content);
    }
    await this.git('add', '.');
    await this.git('commit', '-q', '--allow-empty', '-m', 'x');
    return this.git('rev-parse', 'HEAD');
  }
}

/** A server of repositories below a folder, over HTTP as git itself serves it. */
export interface GitHttpServer {
  readonly url: string;
  close(): Promise<void>;
}

/** @param login `name:password` that is asked for */
export async function serveOverHttp(folder: string, login: string): Promise<GitHttpServer> {
  const wanted = `Basic ${Buffer.from(login).toString('base64')}`;
  const server = createServer((request, response) => {
    if (request.headers.authorization === wanted) serve(folder, request, response);
    else response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export const portOf = (server: TcpServer): number => (server.address() as AddressInfo).port;

function serve(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
  const settings = { key: 'safe.directory', value: '*' };
  const child = spawn('git', ['http-backend'], {
    env: {
      ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: '1' },
      ...{ REQUEST_METHOD: request.method, PATH_INFO: pathname },
      ...{ QUERY_STRING: String(searchParams), CONTENT_TYPE: request.headers['content-type'] },
      ...{ HTTP_CONTENT_ENCODING: request.headers['content-encoding'] },
      ...{ GIT_PROTOCOL: String(request.headers['git-protocol'] ?? '') },
      ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: settings.key },
      GIT_CONFIG_VALUE_0: settings.value,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.once('close', () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    for (const line of answer.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(': ');
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(answer.subarray(end + 4));
  });
}
