/**
 * Budget: 25 s, because Ansible installs collections in three kinds of sandboxes.
 */
import { execFileSync } from 'node:child_process';
import { access, chmod, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { AddressGuard } from '../../src/outbound/address-guard.js';
import type { Sandbox } from '../../src/execution/sandbox/command.js';
import { searchPaths } from '../../src/execution/runner/ansible-paths.js';
import { ContentCache } from '../../src/execution/runner/content-cache.js';
import { installContent, type InstallRequest } from '../../src/execution/runner/galaxy-install.js';
import {
  contentDigest,
  needsProject,
  readRequirements,
  type ContentSource,
} from '../../src/projects/project-requirements.js';
import {
  buildCollection,
  type BuiltCollection,
  type GalaxyFake,
  selfSigned,
  serveGalaxy,
} from '../support/fakes/galaxy-server.js';
import {
  sandboxIn,
  SANDBOXES,
  isFull,
  OPEN,
  createTestSandbox,
  type TestSandbox,
} from './sandboxes.js';
import { serveOverHttp, TestRepository } from './git-servers.js';
import { createTestFolder, type TestFolder } from './playbooks.js';

const HERE = new AddressGuard(['127.0.0.0/8']);
const ROLE = 'collections/ansible_collections/our/tools/roles/greet/tasks/main.yml';

let folder: TestFolder;
let first: BuiltCollection;
let second: BuiltCollection;
beforeAll(async () => {
  folder = await createTestFolder();
  first = await buildCollection(folder.dir, 'tools', 'from the first');
  second = await buildCollection(folder.dir, 'tools', 'from the second');
});
afterAll(() => folder.remove());

describe.each(SANDBOXES)('an installation %s', (_, kind) => {
  let raised: TestSandbox;
  let sandbox: Sandbox;
  let place: string;
  let output: string;
  beforeAll(async () => {
    place = join(folder.dir, kind);
    raised = await createTestSandbox(kind, place);
    ({ sandbox } = raised);
  });
  afterAll(() => raised.end());

  let count = 0;
  async function install(
    files: Record<string, string | Buffer>,
    request: Partial<InstallRequest> = {},
  ): Promise<(path: string) => Promise<string>> {
    count += 1;
    const projectDir = join(place, `project-${count}`);
    for (const [name, content] of Object.entries(files)) {
      await mkdir(join(projectDir, name, '..'), { recursive: true });
      await writeFile(join(projectDir, name), content);
    }
    const root = join(place, `root-${count}`);
    await mkdir(root);
    output = '';
    const wanted = await readRequirements(projectDir);
    const content = await installContent({
      ...{ root, sandbox, guard: HERE, servers: [], files: wanted },
      ...{ environment: {}, ignoresCertificates: false },
      projectDir: needsProject(wanted) ? projectDir : null,
      onOutput: (text) => (output += text),
      ...request,
    });
    return (path) => readFile(join(content, path), 'utf8');
  }

  const WANTED = { 'collections/requirements.yml': 'collections: [our.tools]\n' };
  const at = ({ url }: GalaxyFake, token: string) => ({ url, authUrl: '', token });

  it('queries the servers in their order, each with its own token', async () => {
    const servers = [await serveGalaxy([first], 'token-1'), await serveGalaxy([second], 'token-2')];
    const [one, two] = servers as [GalaxyFake, GalaxyFake];
    const read = await install(WANTED, { servers: [at(one, 'token-1'), at(two, 'token-2')] });
    expect(await read(ROLE)).toContain('from the first');
    expect(new Set(one.requests.map(({ authorization }) => authorization))).toEqual(
      new Set(['Token token-1']),
    );
    if (isFull(kind)) {
      const turned = await install(WANTED, { servers: [at(two, 'token-2'), at(one, 'token-1')] });
      expect(await turned(ROLE)).toContain('from the second');
      expect(new Set(two.requests.map(({ authorization }) => authorization))).toEqual(
        new Set(['Token token-2']),
      );
    }
    await Promise.all(servers.map((server) => server.close()));
  });

  it('ends when it is canceled, and after its timeout', async () => {
    const silent = { url: 'http://127.0.0.1:1/', authUrl: '', token: '' };
    const canceled = install(WANTED, { servers: [silent], signal: AbortSignal.abort() });
    await expect(canceled).rejects.toMatchObject({ reason: 'canceled' });
    const late = install(WANTED, { servers: [silent], deadline: performance.now() });
    await expect(late).rejects.toMatchObject({ reason: 'timeout' });
  });

  if (!isFull(kind)) return;

  it('ignores certificates and uses environment variables according to the settings', async () => {
    const server = await serveGalaxy([first], '', await selfSigned(folder.dir));
    const request = { servers: [at(server, '')] };
    await expect(install(WANTED, request)).rejects.toThrow(/certificate/i);
    const environment = { ANSIBLE_VERBOSITY: '3', ANSIBLE_CONFIG: '/dev/null' };
    const read = await install(WANTED, { ...request, environment, ignoresCertificates: true });
    expect(await read(ROLE)).toContain('from the first');
    expect(output).toMatch(/config file = .*home\/ansible\.cfg/);
    await server.close();
  });

  it('reports the error, and no token', async () => {
    const server = await serveGalaxy([first], 'another');
    const failed = install(WANTED, { servers: [at(server, 'my-wrong-token')] });
    await expect(failed).rejects.toThrow(
      /^The requirements of collections\/requirements.yml could not be installed: .*403/,
    );
    expect(output).toContain('refused Token **********');
    expect(output).not.toContain('my-wrong-token');
    await server.close();
  });

  it('connects to permitted addresses only', async () => {
    const server = await serveGalaxy([first]);
    const request = { servers: [at(server, '')], guard: new AddressGuard([]) };
    const overFtp = {
      'roles/requirements.yml': '[{src: "ftp://127.0.0.1/welcome.tar.gz", name: welcome}]\n',
    };
    for (const files of [WANTED, overFtp]) {
      await expect(install(files, request)).rejects.toThrow(
        'The address of 127.0.0.1 is not permitted.',
      );
    }
    expect(server.requests).toEqual([]);
    await server.close();
  });

  it('installs archives of the project, and roles of a repository over HTTP', async () => {
    const served = join(place, 'served');
    await TestRepository.create(join(served, 'role'), {
      'tasks/main.yml': '- debug: {msg: role}\n',
      'meta/main.yml': 'galaxy_info: {}\n',
    });
    const server = await serveOverHttp(served, 'ann:word');
    const url = `${server.url.replace('//', '//ann:word@')}/role/.git`;
    const read = await install({
      'vendor/our-tools.tar.gz': first.archive,
      'requirements.yml': `collections: [{name: ./vendor/our-tools.tar.gz, type: file}]
roles: [{src: "${url}", scm: git, name: welcome}]
`,
    });
    expect(await read(ROLE)).toContain('from the first');
    expect(await read('roles/welcome/tasks/main.yml')).toContain('msg: role');
    await server.close();
  });

  it.each(['our.base', 'base'])('uses no file of the project for the role %s', async (name) => {
    const archive = execFileSync('tar', ['-cz', '-C', folder.dir, '.'], { maxBuffer: 1e9 });
    const server = await serveGalaxy([first]);
    const poisoned = { 'requirements.yml': `roles: [{src: ${name}}]\n`, [name]: archive };
    await expect(install(poisoned, { servers: [at(server, '')] })).rejects.toThrow(
      `${name} was NOT installed successfully: Galaxy action`,
    );
    expect(server.requests.length).toBeGreaterThan(0);
    await server.close();
  });
});

it('an installation sees only the project and its own folder', async () => {
  const sandbox = await sandboxIn(folder.dir);
  const neighbor = await folder.write('data/projects/other', { 'our-tools.tar.gz': 'x' });
  const projectDir = await folder.write('data/projects/mine', {
    'requirements.yml': `collections: [{name: ${neighbor}/our-tools.tar.gz, type: file}]\n`,
  });
  const root = await folder.write('root', {});
  await mkdir(root);
  const files = await readRequirements(projectDir);
  const request = {
    ...{ projectDir, root, sandbox, files, guard: HERE, servers: [] },
    ...{ environment: {}, ignoresCertificates: false },
  };
  await expect(installContent({ ...request, onOutput: () => undefined })).rejects.toThrow(
    /No such file or directory|Unable to find collection artifact/,
  );
});

it('passes no address of a role to git or hg as an option', async () => {
  const source = '--config=credential.helper=!id http://x/role';
  const calls = ['clone', 'clone -c http.sslVerify=false', 'clone --', 'checkout'];
  const lines = ['git', 'hg'].flatMap((name) => calls.map((call) => `${name} ${call} ${source}`));
  const programs = await folder.write('programs', {
    'ansible-galaxy': ['#!/bin/sh', ...lines].join('\n'),
    ...{ git: '#!/bin/sh\necho git "$@"', hg: '#!/bin/sh\necho hg "$@"' },
    'requirements.yml': 'roles: [{src: http://x}]',
  });
  const root = await folder.write('root-options', {});
  await mkdir(root);
  for (const name of ['ansible-galaxy', 'git', 'hg']) await chmod(join(programs, name), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${programs}:${PATH}`;
  let output = '';
  await installContent({
    ...{ projectDir: null, root, sandbox: OPEN, guard: HERE, servers: [] },
    ...{ environment: {}, ignoresCertificates: false, files: await readRequirements(programs) },
    onOutput: (text) => (output += text),
  }).finally(() => (process.env.PATH = PATH));
  const received = ['clone --', 'clone -c http.sslVerify=false --', 'clone --', 'checkout'];
  const expected = ['git', 'hg'].flatMap((name) =>
    received.map((call) => `${name} ${call} ${source}\n`),
  );
  expect(output).toContain(expected.join(''));
});

describe('the cache', () => {
  const build = (text: string) => async (root: string) => {
    await folder.write(join(root.slice(folder.dir.length), 'content'), { said: text });
    return join(root, 'content');
  };
  const contentOf = (entry: string | null) => readFile(join(entry ?? '', 'said'), 'utf8');
  const isThere = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );

  it('contains an entry after it is complete, and not before', async () => {
    const cache = new ContentCache(join(folder.dir, 'whole'), 1e9);
    let finish = (): void => undefined;
    const waits = new Promise<void>((resolve) => (finish = resolve));
    const made = cache.create('one', async (root) => {
      const content = await build('half')(root);
      expect(await cache.find('one')).toBeNull();
      await waits;
      return content;
    });
    finish();
    expect(await contentOf(await made)).toBe('half');
    expect(await contentOf(await cache.find('one'))).toBe('half');
    await expect(cache.create('two', () => Promise.reject(new Error('broken')))).rejects.toThrow();
    expect(await cache.find('two')).toBeNull();
    expect((await readdir(join(folder.dir, 'whole/content'))).toSorted()).toEqual([
      '.building',
      'one',
    ]);
    expect(await readdir(join(folder.dir, 'whole/content/.building'))).toEqual([]);
  });

  it('keeps an entry that runs use when the entry is created again', async () => {
    const cache = new ContentCache(join(folder.dir, 'again'), 1e9);
    await cache.create('one', build('old'));
    expect(await contentOf(await cache.create('one', build('new')))).toBe('new');
    const [old = ''] = await readdir(join(folder.dir, 'again/content/.building'));
    expect(await contentOf(join(folder.dir, 'again/content/.building', old))).toBe('old');
  });

  it('removes entries that were not used for long, and those of a killed worker', async () => {
    const cache = new ContentCache(join(folder.dir, 'old'), 1e9);
    const longAgo = new Date(Date.now() - 2e9);
    const entries = [
      await cache.create('used', build('1')),
      await cache.create('unused', build('2')),
    ];
    const left = join(folder.dir, 'old/content/.building/unfinished-x');
    await mkdir(left);
    for (const path of [...entries, left]) await utimes(path, longAgo, longAgo);
    await cache.find('used');
    await cache.create('other', build('3'));
    expect(await Promise.all([...entries, left].map(isThere))).toEqual([true, false, false]);
  });
});

describe('the digest of content', () => {
  const file = (text: string) => ({ path: 'requirements.yml', kind: 'both' as const, text });
  const server = { url: 'https://a.example', authUrl: '', token: 't' };
  const source: ContentSource = {
    ...{ organization: 1, project: 1, revision: 'abc', servers: [server] },
    files: [file('collections: [{name: our.tools, source: "https://a.example/"}]')],
  };
  const name = (change: Partial<ContentSource> = {}) =>
    contentDigest({ ...source, ...change }, 'key');

  it.each<[string, Partial<ContentSource>, boolean]>([
    ['another commit', { revision: 'def' }, true],
    ['another project', { project: 2 }, true],
    ['another text', { files: [file('collections: []')] }, false],
    ['another organization', { organization: 2 }, false],
    ['another token', { servers: [{ ...server, token: 'u' }] }, false],
    ['another image', { image: 'sha256:1' }, false],
    ['another order of servers', { servers: [server, server] }, false],
  ])('with %s is the same: %p', (_name, change, isSame) => {
    expect(name(change) === name()).toBe(isSame);
  });

  it.each([
    '- ./roles/x',
    '- name: ../x.tar.gz',
    'type: dir',
    '- include: more.yml',
    '- src: file:///x',
  ])('depends on project and commit where %p is required', (text) => {
    const files = [file(text)];
    expect(name({ files })).not.toBe(name({ files, revision: 'def' }));
    expect(name({ files })).not.toBe(name({ files, project: 2 }));
  });
});

describe('the paths of content', () => {
  it.each([
    ['', ['~/.ansible/roles', '/usr/share/ansible/roles', '/etc/ansible/roles']],
    ['[defaults]\nroles_path = ./mine:/opt/roles  ; ours\n', ['./mine', '/opt/roles']],
    ['[other]\nroles_path=x\n[defaults]\n#roles_path=y\nRoles_Path: z\n', ['z']],
    [
      '[defaults]\nroles_path = ; none\n roles_path=x\n;a=b\n=c\nroles_path \t=\ty=z:t ;\n',
      ['y=z', 't'],
    ],
  ])('precede those of %j', async (config, roles) => {
    const dir = await folder.write(`config-${roles.length}`, { 'ansible.cfg': config });
    const { rolesPaths, collectionsPaths } = await searchPaths(dir, '/content/x');
    expect(rolesPaths).toEqual(['/content/x/roles', ...roles]);
    expect(collectionsPaths).toEqual([
      '/content/x/collections',
      ...['~/.ansible/collections', '/usr/share/ansible/collections'],
    ]);
  });

  it.each(['a', 'a=b', '['])('are found after a long line of spaces behind %j', async (start) => {
    const line = `${start}${' '.repeat(1_000_000)}c`;
    const config = `[defaults]\n${line}\nroles_path=x\n`;
    const dir = await folder.write('config-long', { 'ansible.cfg': config });
    const startedAt = process.cpuUsage();
    expect((await searchPaths(dir, '/content')).rolesPaths).toEqual(['/content/roles', 'x']);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
  });
});
