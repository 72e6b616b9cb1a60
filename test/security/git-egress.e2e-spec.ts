/** Git reaches only the permitted sources of projects, by any address or redirection. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { GitReach } from '../../src/code-hosts/git-reach.js';
import type { Resolver } from '../../src/outbound/address-guard.js';
import { syncProject } from '../../src/execution/runner/git-checkout.js';
import { Settings } from '../../src/config/settings.js';
import type { Sandbox } from '../../src/execution/sandbox/command.js';
import { sandboxIn } from '../runner/sandboxes.js';
import { boot, type TestApp } from '../support/boot.js';

const execute = promisify(execFile);
const refusal = (host: string): string =>
  `The address of ${host} is not permitted. Private and local networks must be listed in OUTBOUND_ALLOW.`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'egress-'));
  await mkdir(join(folder, 'open'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a project that is saved', () => {
  let test: TestApp;
  beforeAll(async () => {
    const settings = {
      PROJECT_SCM_SCHEMES: 'https,http,ssh,git,file',
      PROJECT_FILE_ROOTS: tmpdir(),
      OUTBOUND_ALLOW: '10.1.0.0/16',
    };
    test = await boot({ settings });
  }, 60_000);
  afterAll(() => test.close());

  const save = (scm_url: string, name = scm_url) =>
    test.as.superuser.post('projects/', {
      ...{ name, organization: test.home.organization.id, scm_type: 'git' },
      scm_url,
    });

  it.each([
    ['http://169.254.169.254/latest/meta-data', '169.254.169.254'],
    ['https://127.0.0.1/x.git', '127.0.0.1'],
    ['https://0x7f.1/x.git', '127.0.0.1'],
    ['https://user:pw@localhost:8443/x.git', 'localhost'],
    ['https://[::1]/x.git', '[::1]'],
    ['https://[::ffff:10.0.0.1]/x.git', '[::ffff:a00:1]'],
    ['http://168.63.129.16/x.git', '168.63.129.16'],
    ['ssh://git@192.168.0.1:2222/x.git', '192.168.0.1'],
    ['git@10.0.0.1:x.git', '10.0.0.1'],
    ['ssh://git@2130706433/x.git', '2130706433'],
    ['git://172.16.0.1/x.git', '172.16.0.1'],
  ])('is refused at %s', async (url, host) => {
    const { body } = await save(url).expect(400);
    expect(body).toEqual({ scm_url: [refusal(host)] });
  });

  it.each(['https://10.1.2.3/x.git', 'git@code.example.com:x.git'])('is accepted at %s', (url) =>
    save(url).expect(201),
  );

  it.each(['file:///etc', '/etc', 'file:///', `${tmpdir()}/../etc`])(
    'is refused in the folder %s',
    async (url) => {
      const { body } = await save(url).expect(400);
      expect(body.scm_url[0]).toContain('PROJECT_FILE_ROOTS');
    },
  );

  it('is accepted in a permitted folder, but never around or below the data folder', async () => {
    await save(`file://${folder}/open/x`).expect(201);
    const { DATA_DIR } = test.app.get(Settings);
    await save(`file://${DATA_DIR}/projects/_1__other`).expect(400);
    await save(`file://${dirname(DATA_DIR)}`).expect(400);
  });
});

describe('a sync', () => {
  const ALLOWED = '127.0.0.1';
  /** Another address of this machine, which is not permitted. */
  const REFUSED = '127.0.0.2';
  const NAMES: Record<string, string> = { 'good.test': ALLOWED, 'evil.test': REFUSED };
  const resolver: Resolver = (host) => {
    const address = NAMES[host];
    return address === undefined
      ? Promise.reject(new Error('no such name'))
      : Promise.resolve([{ address, family: 4 }]);
  };
  const data = (): string => join(folder, 'data');
  let counter = 0;

  function sync(url: string, schemes = ['http', 'https', 'ssh', 'git', 'file']) {
    counter += 1;
    const settings = {
      PROJECT_SCM_SCHEMES: schemes,
      PROJECT_FILE_ROOTS: [join(folder, 'open'), data()],
      OUTBOUND_ALLOW: [`${ALLOWED}/32`],
      DATA_DIR: data(),
    };
    const reach = new GitReach(settings, resolver);
    return syncProject({ url, reach, sandbox, destination: join(folder, `copy-${counter}`) });
  }

  const served: Server[] = [];
  async function listen(host: string, server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    served.push(server);
    return (server.address() as AddressInfo).port;
  }
  const serve = (host: string, listener: RequestListener): Promise<number> =>
    listen(host, createServer(listener));

  async function repository(path: string): Promise<(...args: string[]) => Promise<string>> {
    await mkdir(path, { recursive: true });
    const git = async (...args: string[]): Promise<string> =>
      (
        await execute('git', ['-c', 'user.name=t', '-c', 'user.email=t@e.org', ...args], {
          cwd: path,
        })
      ).stdout;
    await git('init', '-q', '-b', 'main');
    await writeFile(join(path, 'site.yml'), '- hosts: all\n');
    await git('add', '.');
    await git('commit', '-qm', 'one');
    return git;
  }

  /** A repository with a submodule at an address. */
  async function withSubmodule(name: string, url: string): Promise<string> {
    const path = join(folder, 'open', name);
    const git = await repository(path);
    await writeFile(join(path, '.gitmodules'), `[submodule "m"]\n\tpath = m\n\turl = ${url}\n`);
    await git('add', '.');
    await git('update-index', '--add', '--cacheinfo', `160000,${'a'.repeat(40)},m`);
    await git('commit', '-qm', 'm');
    return `file://${path}`;
  }

  const visits: string[] = [];
  let evil: number;
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await sandboxIn(folder);
    evil = await serve(REFUSED, (request, response) => {
      visits.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
    });
  });
  afterEach(() => expect(visits).toEqual([]));
  afterAll(() => {
    for (const server of served) server.close();
  });

  it('fetches over HTTP from the address that the name resolved to', async () => {
    const bare = join(folder, 'open', 'served.git');
    const git = await repository(join(folder, 'open', 'served'));
    await git('clone', '-q', '--bare', '.', bare);
    await execute('git', ['update-server-info'], { cwd: bare });
    const port = await serve(ALLOWED, (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://x');
      execute('cat', [join(folder, 'open', pathname)], { encoding: 'buffer' }).then(
        ({ stdout }) => response.end(stdout),
        () => response.writeHead(404).end(),
      );
    });
    const { revision } = await sync(`http://good.test:${port}/served.git`);
    expect(revision).toBe((await git('rev-parse', 'HEAD')).trim());
  });

  it.each([
    ['ssh', 'SSH-2.0'],
    ['git', 'git-upload-pack /x.git'],
  ])('uses %s to the address that was checked', async (scheme, words) => {
    let said = '';
    const port = await listen(
      ALLOWED,
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (bytes) => {
          said += bytes.toString('latin1');
          if (said.includes(words)) socket.destroy();
        });
      }),
    );
    await expect(sync(`${scheme}://good.test:${port}/x.git`)).rejects.toThrow('git fetch failed');
    expect(said).toContain(words);
  });

  it.each([
    ['http', () => `http://evil.test:${evil}/x.git`],
    ['http without a name', () => `http://${REFUSED}:${evil}/x.git`],
    ['ssh', () => 'ssh://git@evil.test/x.git'],
    ['ssh in short', () => 'git@evil.test:x.git'],
    ['git', () => 'git://evil.test/x.git'],
  ])('of a forbidden address fails for %s, with an explanation', async (_, url) => {
    await expect(sync(url())).rejects.toThrow(/The address of .* is not permitted/);
  });

  it('does not follow a redirect to a forbidden address', async () => {
    const port = await serve(ALLOWED, (request, response) => {
      response.writeHead(302, { Location: `http://evil.test:${evil}${request.url}` }).end();
    });
    await expect(sync(`http://good.test:${port}/x.git`)).rejects.toThrow(refusal('evil.test'));
  });

  it('follows a redirect to a permitted address', async () => {
    const asked: string[] = [];
    const target = await serve(ALLOWED, (request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(404).end();
    });
    const port = await serve(ALLOWED, (request, response) => {
      response.writeHead(302, { Location: `http://good.test:${target}${request.url}` }).end();
    });
    await expect(sync(`http://good.test:${port}/x.git`)).rejects.toThrow('git fetch failed');
    expect(asked).not.toEqual([]);
  });

  it('checks the name again when it connects', async () => {
    const port = await serve(ALLOWED, (_, response) => response.writeHead(404).end());
    // The name server returns another address after the check.
    let asked = 0;
    const rebinding: Resolver = async () => {
      asked += 1;
      return [{ address: asked === 1 ? ALLOWED : REFUSED, family: 4 }];
    };
    const reach = new GitReach(
      {
        PROJECT_SCM_SCHEMES: ['http'],
        PROJECT_FILE_ROOTS: [],
        OUTBOUND_ALLOW: [`${ALLOWED}/32`],
        DATA_DIR: data(),
      },
      rebinding,
    );
    const destination = join(folder, 'rebinding');
    await expect(
      syncProject({ url: `http://twice.test:${port}/x.git`, reach, sandbox, destination }),
    ).rejects.toThrow(refusal('twice.test'));
  });

  it.each([
    ['http', () => `http://evil.test:${evil}/m.git`, refusal('evil.test')],
    ['ssh', () => 'git@evil.test:m.git', refusal('evil.test')],
    ['a folder', () => 'file:///etc', 'PROJECT_FILE_ROOTS'],
    ['a relative path', () => '../../../../../../etc', 'PROJECT_FILE_ROOTS'],
    ['the data folder', () => `file://${data()}/projects/other`, 'PROJECT_FILE_ROOTS'],
  ])('does not fetch a submodule of a forbidden address: %s', async (name, url, message) => {
    const origin = await withSubmodule(`sub ${name}`.replaceAll(' ', '-'), url());
    await expect(sync(origin)).rejects.toThrow(message);
  });

  it('fetches a submodule of a submodule from a permitted address', async () => {
    const inner = await repository(join(folder, 'open', 'inner'));
    const head = (await inner('rev-parse', 'HEAD')).trim();
    const middle = await repository(join(folder, 'open', 'middle'));
    const add = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add'];
    await middle(...add, '../inner', 'deep');
    await middle('commit', '-qm', 'inner');
    const outer = await repository(join(folder, 'open', 'outer'));
    await outer(...add, '../middle', 'near');
    await outer('commit', '-qm', 'middle');
    await sync(`file://${folder}/open/outer`);
    const deep = join(folder, `copy-${counter}`, 'near', 'deep');
    // It belongs to the account of runs.
    const args = ['-c', 'safe.directory=*', 'rev-parse', 'HEAD'];
    expect((await execute('git', args, { cwd: deep })).stdout.trim()).toBe(head);
  });

  it('does not follow a link to forbidden folders or the data folder', async () => {
    await repository(join(folder, 'elsewhere'));
    await repository(join(data(), 'projects', 'other'));
    await symlink(join(folder, 'elsewhere'), join(folder, 'open', 'away'));
    await symlink(join(data(), 'projects', 'other'), join(folder, 'open', 'own'));
    for (const name of ['away', 'own']) {
      await expect(sync(`file://${folder}/open/${name}`)).rejects.toThrow('PROJECT_FILE_ROOTS');
    }
    await expect(sync(`file://${data()}/projects/other`)).rejects.toThrow('PROJECT_FILE_ROOTS');
  });
});
