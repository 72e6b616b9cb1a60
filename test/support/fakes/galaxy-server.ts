import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Collection as a file, to be served or stored next to requirements. */
export interface BuiltCollection {
  readonly namespace: string;
  readonly name: string;
  readonly version: string;
  readonly archive: Buffer;
}

/**
 * Builds the collection `our.<name>` with one role, `greet`, which prints `word`.
 *
 * @param folder for its sources and its archive
 */
export async function buildCollection(
  folder: string,
  name: string,
  word: string,
  version = '1.0.0',
): Promise<BuiltCollection> {
  const source = join(folder, `${name}-${createHash('sha256').update(word).digest('hex')}`);
  const files = {
    'galaxy.yml': `namespace: our\nname: ${name}\nversion: ${version}\nreadme: README.md\nauthors: [x]\n`,
    'README.md': 'x',
    'roles/greet/tasks/main.yml': `- debug: {msg: "${word}"}\n`,
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(source, path)), { recursive: true });
    await writeFile(join(source, path), content);
  }
  await execute('ansible-galaxy', ['collection', 'build', '--output-path', source], {
    ...{ cwd: source, env: { ...process.env, HOME: folder } },
  });
  const archive = await readFile(join(source, `our-${name}-${version}.tar.gz`));
  return { namespace: 'our', name, version, archive };
}

/** Server with version 3 of the API of Galaxy. */
export interface GalaxyFake {
  readonly url: string;
  /** Requested paths with their `Authorization` and `User-Agent`, in order. */
  readonly requests: {
    path: string;
    authorization: string | undefined;
    agent: string | undefined;
  }[];
  close(): Promise<void>;
}

/** Key and certificate of a server. */
export interface TlsParts {
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** Creates a certificate that no authority signed. */
export async function selfSigned(folder: string): Promise<TlsParts> {
  const [key, cert] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
  await execute('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1'],
    ...['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ...['-keyout', key, '-out', cert],
  ]);
  return { key: await readFile(key), cert: await readFile(cert) };
}

/**
 * Starts the server.
 *
 * @param token required for collections. The refusal quotes the received token. If empty, no token is required.
 * @param tls serves HTTPS
 */
export async function serveGalaxy(
  collections: readonly BuiltCollection[],
  token = '',
  tls?: TlsParts,
): Promise<GalaxyFake> {
  const scheme = tls ? 'https' : 'http';
  const requests: GalaxyFake['requests'] = [];
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const { authorization } = request.headers;
    requests.push({ path: request.url ?? '', authorization, agent: request.headers['user-agent'] });
    const base = `${scheme}://${request.headers.host}`;
    if (/^\/api\/?$/.test(request.url ?? '')) {
      respond(response, 200, { available_versions: { v3: 'v3/' } });
    } else if (token !== '' && authorization !== `Token ${token}`) {
      respond(response, 403, { errors: [{ code: 'no', detail: `refused ${authorization}` }] });
    } else {
      serve(collections, base, request, response);
    }
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function serve(
  collections: readonly BuiltCollection[],
  base: string,
  { url = '' }: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname } = new URL(url, base);
  const [, kind, namespace, name, rest = ''] =
    /^\/api\/v3\/(collections|files)\/([^/]+)\/([^/]+)\/(.*)$/.exec(pathname) ?? [];
  const found = collections.find((one) => one.namespace === namespace && one.name === name);
  if (!found) return respond(response, 404, { errors: [{ detail: 'Not found.' }] });
  const { version, archive } = found;
  if (kind === 'files') return void response.writeHead(200).end(archive);
  const href = `/api/v3/collections/${namespace}/${name}/versions/${version}/`;
  if (rest === 'versions/') {
    return respond(response, 200, {
      ...{ meta: { count: 1 }, links: { next: null }, data: [{ version, href }] },
    });
  }
  if (rest === '') return respond(response, 200, { href, highest_version: { version, href } });
  respond(response, 200, {
    ...{ version, href, signatures: [], metadata: { dependencies: {} } },
    ...{ namespace: { name: namespace }, collection: { name } },
    artifact: { sha256: createHash('sha256').update(archive).digest('hex'), size: archive.length },
    download_url: `${base}/api/v3/files/${namespace}/${name}/our-${name}-${version}.tar.gz`,
  });
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
