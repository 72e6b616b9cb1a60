/**
 * Budget: 25 s, because real servers and git are started for three kinds of sandboxes.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Sandbox } from '../../src/execution/sandbox/command.js';
import {
  checkoutRevision,
  type SyncRequest,
  syncProject,
} from '../../src/execution/runner/git-checkout.js';
import { SANDBOXES, isFull, createTestSandbox, type TestSandbox } from './sandboxes.js';
import { type GitHttpServer, HERE, serveOverHttp, TestRepository } from './git-servers.js';
import { createTestFolder, type TestFolder } from './playbooks.js';
import { type SshServer, startSshServer } from './ssh-server.js';

const execute = promisify(execFile);
const KNOWN_HOSTS = join(homedir(), '.ssh', 'known_hosts');

/** Git fetches from real servers. */
describe.each(SANDBOXES)('a sync %s', (_, kind) => {
  let raised: TestSandbox;
  let folder: TestFolder;
  let sandbox: Sandbox;
  let origin: TestRepository;
  beforeAll(async () => {
    folder = await createTestFolder();
    raised = await createTestSandbox(kind, folder.dir);
    ({ sandbox } = raised);
    origin = await TestRepository.create(join(folder.dir, 'served'), { 'site.yml': 'one' });
  });
  afterAll(async () => {
    await raised.end();
    await folder.remove();
  });

  let copies = 0;
  async function sync(
    url: string,
    request: Partial<SyncRequest> = {},
  ): Promise<{ revision: string; read: (name: string) => Promise<string> }> {
    copies += 1;
    const destination = request.destination ?? join(folder.dir, `copy-${copies}`);
    const { revision } = await syncProject({ url, reach: HERE, sandbox, ...request, destination });
    return { revision, read: (name) => readFile(join(destination, name), 'utf8') };
  }

  describe('over HTTP', () => {
    let server: GitHttpServer;
    beforeAll(async () => {
      server = await serveOverHttp(folder.dir, 'ann:p4ss w/rd');
    });
    afterAll(() => server.close());

    it('reads a repository with its credential', async () => {
      const credential = { username: 'ann', password: 'p4ss w/rd' };
      const { revision } = await sync(`${server.url}/served/.git`, { credential });
      expect(revision).toBe(await origin.git('rev-parse', 'HEAD'));
    });

    if (!isFull(kind)) return;

    it('fails with another credential', async () => {
      const credential = { username: 'ann', password: 'wrong' };
      const failed = sync(`${server.url}/served/.git`, { credential });
      await expect(failed).rejects.toThrow('Authentication failed');
    });
  });

  describe('over SSH', () => {
    let server: SshServer;
    let url: string;
    beforeAll(async () => {
      server = await startSshServer(folder);
      url = `ssh://${server.user}@127.0.0.1:${server.port}${origin.dir}`;
    });
    afterAll(async () => {
      await server.stop();
      const forget = ['-R', `[127.0.0.1]:${server.port}`, '-f', KNOWN_HOSTS];
      await execute('ssh-keygen', forget).catch(() => undefined);
    });

    it('reads a repository with its key, and remembers the host key', async () => {
      const credential = { sshKeyData: await readFile(server.key, 'utf8') };
      const head = await origin.git('rev-parse', 'HEAD');
      const revisions = [await sync(url, { credential }), await sync(url, { credential })];
      expect(revisions.map(({ revision }) => revision)).toEqual([head, head]);
      const known = (await readFile(KNOWN_HOSTS, 'utf8')).split('\n');
      const name = `[127.0.0.1]:${server.port} `;
      expect(known.filter((line) => line.startsWith(name))).toHaveLength(1);
    });

    if (!isFull(kind)) return;

    it('fails with another key', async () => {
      const key = join(folder.dir, 'another-key');
      await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
      const credential = { sshKeyData: await readFile(key, 'utf8') };
      await expect(sync(url, { credential })).rejects.toMatchObject({
        output: expect.stringContaining('Permission denied'),
      });
    });
  });

  it('fetches no file above the size limit of the folder', async () => {
    if (kind === 'none') return;
    const large = await TestRepository.create(join(folder.dir, 'large'), { 'site.yml': 'x' });
    await large.commit({ 'large.txt': randomBytes(2_000_000).toString('hex') });
    const limit = { maxFolderBytes: 1024 * 1024 };
    await expect(sync(large.url, limit)).rejects.toThrow('git fetch failed');
  });

  if (!isFull(kind)) return;

  it('fetches nested submodules, and only changed ones again', async () => {
    const inner = await TestRepository.create(join(folder.dir, 'inner'), { 'deep.yml': '1' });
    const middle = await TestRepository.create(join(folder.dir, 'middle'), { 'near.yml': '1' });
    await middle.git('submodule', '--quiet', 'add', '../inner', 'sub/deep');
    await middle.commit({});
    const outer = await TestRepository.create(join(folder.dir, 'outer'), { 'site.yml': '1' });
    await outer.git('submodule', '--quiet', 'add', '../middle', 'near');
    await outer.commit({});
    const destination = join(folder.dir, 'with-submodules');
    const { read } = await sync(outer.url, { destination });
    expect(await read('near/sub/deep/deep.yml')).toBe('1');

    const newest = await inner.commit({ 'deep.yml': '2' });
    await middle.git('-C', 'sub/deep', 'pull', '-q', 'origin', 'main');
    await middle.commit({});
    await outer.git('-C', 'near', 'pull', '-q', 'origin', 'main');
    const revision = await outer.commit({});
    await sync(outer.url, { destination });
    expect(await read('near/sub/deep/deep.yml')).toBe('2');

    const own = join(folder.dir, 'job-with-submodules');
    const source = { url: outer.url, reach: HERE };
    await checkoutRevision({
      repository: destination,
      revision,
      source,
      destination: own,
      sandbox,
    });
    const args = ['-c', 'safe.directory=*', 'rev-parse', 'HEAD'];
    const { stdout } = await execute('git', args, { cwd: join(own, 'near/sub/deep') });
    expect(stdout.trim()).toBe(newest);
  });

  it('uses the latest commit of a submodule on request, also for jobs', async () => {
    const part = await TestRepository.create(join(folder.dir, 'part'), { 'part.yml': '1' });
    const whole = await TestRepository.create(join(folder.dir, 'whole'), { 'site.yml': '1' });
    await whole.git('submodule', '--quiet', 'add', '-b', 'main', '../part', 'part');
    await whole.commit({});
    const destination = join(folder.dir, 'tracking');
    for (const content of ['2', '3']) {
      await part.commit({ 'part.yml': content });
      const { read } = await sync(whole.url, { destination, trackSubmodules: true });
      expect(await read('part/part.yml')).toBe(content);
    }
    const synced = await part.git('rev-parse', 'HEAD');
    const newest = await part.commit({ 'part.yml': '4' });
    const revision = await whole.git('rev-parse', 'HEAD');
    const source = { url: whole.url, reach: HERE };
    const request = { repository: destination, revision, source, sandbox };
    for (const [submodules, wanted] of [
      ['synced', synced],
      ['newest', newest],
    ] as const) {
      const own = join(folder.dir, `tracking-${submodules}`);
      await checkoutRevision({ ...request, submodules, destination: own });
      const args = ['-c', 'safe.directory=*', 'rev-parse', 'HEAD'];
      const { stdout } = await execute('git', args, { cwd: join(own, 'part') });
      expect([submodules, stdout.trim()]).toEqual([submodules, wanted]);
    }
  });

  it('keeps executable bits', async () => {
    const repository = await TestRepository.create(join(folder.dir, 'modes'), { 'run.sh': 'x' });
    await chmod(join(repository.dir, 'run.sh'), 0o755);
    await repository.commit({});
    const destination = join(folder.dir, 'copy-of-modes');
    await sync(repository.url, { destination });
    const { stdout } = await execute('ls', ['-l', join(destination, 'run.sh')]);
    expect(stdout).toMatch(/^-rwx/);
  });
});
