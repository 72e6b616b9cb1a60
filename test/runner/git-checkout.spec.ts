/**
 * Budget: 30 s, because each of some sixty fetches starts git several times, some of them in containers.
 */
import { execFile } from 'node:child_process';
import { access, chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import {
  checkoutRevision,
  type SyncRequest,
  syncProject,
} from '../../src/execution/runner/git-checkout.js';
import { GIT_SILENCE } from '../../src/execution/runner/git-session-files.js';
import { GitReach } from '../../src/code-hosts/git-reach.js';
import { GuardedProxy } from '../../src/execution/sandbox/guarded-proxy.js';
import type { Sandbox } from '../../src/execution/sandbox/command.js';
import { SANDBOXES, isFull, createTestSandbox, type TestSandbox } from './sandboxes.js';
import { createTestFolder, type TestFolder } from './playbooks.js';

const execute = promisify(execFile);
const SCHEMES = ['file', 'https', 'http', 'ssh'];
/** Returns the permitted targets: everything on this machine, and its own addresses. */
const reachOf = (schemes: readonly string[]): GitReach =>
  new GitReach({
    PROJECT_SCM_SCHEMES: [...schemes],
    PROJECT_FILE_ROOTS: ['/'],
    OUTBOUND_ALLOW: ['127.0.0.0/8'],
    DATA_DIR: '/var/lib/none',
  });
const REACH = reachOf(SCHEMES);

describe.each(SANDBOXES)('git %s', (_, kind) => {
  let raised: TestSandbox;
  let folder: TestFolder;
  let origin: string;
  let sandbox: Sandbox;
  beforeAll(async () => {
    folder = await createTestFolder();
    raised = await createTestSandbox(kind, folder.dir);
    ({ sandbox } = raised);
    origin = join(folder.dir, 'origin');
    await mkdir(origin);
    await git('init', '-q', '-b', 'main');
    await commit('site.yml', '- hosts: all\n');
  });
  afterAll(async () => {
    await raised.end();
    await folder.remove();
  });

  async function git(...args: string[]): Promise<string> {
    const identity = [
      '-c',
      'user.name=t',
      '-c',
      'user.email=t@example.org',
      '-c',
      'safe.directory=*',
    ];
    const { stdout } = await execute('git', [...identity, ...args], { cwd: origin });
    return stdout.trim();
  }

  async function commit(name: string, content: string): Promise<string> {
    await writeFile(join(origin, name), content);
    await git('add', '.');
    await git('commit', '-q', '-m', name);
    return git('rev-parse', 'HEAD');
  }

  let nextFolder = 0;
  function freshFolder(): string {
    nextFolder += 1;
    return join(folder.dir, `copy-${nextFolder}`);
  }

  function sync(settings: Partial<SyncRequest> = {}): ReturnType<typeof syncProject> {
    return syncProject({
      url: `file://${origin}`,
      reach: REACH,
      destination: freshFolder(),
      sandbox,
      ...settings,
    });
  }

  const source = (): { url: string; reach: GitReach } => ({
    url: `file://${origin}`,
    reach: REACH,
  });

  describe('syncProject', () => {
    it('leaves no folder if its proxy cannot start', async () => {
      jest.spyOn(GuardedProxy, 'open').mockRejectedValueOnce(new Error('no free port'));
      await expect(sync()).rejects.toThrow('no free port');
      const own = `git-${process.pid}-`;
      expect((await readdir(tmpdir())).filter((name) => name.startsWith(own))).toEqual([]);
    });

    it('clones, and fetches new commits', async () => {
      const destination = freshFolder();
      expect((await sync({ destination })).revision).toBe(await git('rev-parse', 'HEAD'));
      const newer = await commit('second.yml', '- hosts: web\n');
      const result = await sync({ destination });
      expect(result.revision).toBe(newer);
      expect(await readFile(join(destination, 'second.yml'), 'utf8')).toBe('- hosts: web\n');
    });

    it('reads a repository of another system user', async () => {
      if (process.getuid?.() !== 0) return;
      await execute('chown', ['-R', '12345', origin]);
      await expect(sync()).resolves.toMatchObject({
        revision: expect.stringMatching(/^[0-9a-f]{40}$/),
      });
      await execute('chown', ['-R', '0', origin]);
    });

    if (!isFull(kind)) return;

    it('checks out a branch, a tag, a commit and a ref of a refspec', async () => {
      await git('checkout', '-q', '-b', 'feature/one');
      const feature = await commit('feature.yml', 'x');
      await git('tag', 'v1');
      await git('update-ref', 'refs/pull/7/head', feature);
      await git('checkout', '-q', 'main');
      for (const branch of [
        'feature/one',
        'v1',
        feature,
        feature.slice(0, 10),
        'refs/pull/7/head',
      ]) {
        expect((await sync({ branch })).revision).toBe(feature);
      }
      for (const refspec of [
        '+refs/pull/*:refs/remotes/origin/pull/*',
        'refs/*:refs/remotes/origin/*',
      ]) {
        expect((await sync({ refspec, branch: 'pull/7/head' })).revision).toBe(feature);
      }
      const mirror = { refspec: '+refs/heads/*:refs/heads/*', destination: freshFolder() };
      for (const branch of ['main', 'feature/one']) {
        const { revision } = await sync({ ...mirror, branch });
        expect(revision).toBe(await git('rev-parse', branch));
      }
      expect((await sync({ branch: 'HEAD' })).revision).toBe(await git('rev-parse', 'HEAD'));
    });

    it.each([
      ['tag', 'refs/tags/removed', 'removed'],
      ['ref', 'refs/pull/8/head', 'refs/pull/8/head'],
    ])('fails for a %s that the source has removed', async (_sort, ref, branch) => {
      const destination = freshFolder();
      await git('update-ref', ref, 'HEAD');
      await sync({ destination, branch });
      await git('update-ref', '-d', ref);
      await expect(sync({ destination, branch })).rejects.toThrow(
        `The revision "${branch}" does not exist in the repository.`,
      );
    });

    it('refuses local changes, and discards them with the option clean', async () => {
      const destination = freshFolder();
      await sync({ destination });
      await writeFile(join(destination, 'site.yml'), 'changed');
      await writeFile(join(destination, 'unknown'), 'x');
      await commit('third.yml', 'x');
      await expect(sync({ destination })).rejects.toThrow('Local modifications exist');
      await sync({ destination, clean: true });
      expect(await readFile(join(destination, 'site.yml'), 'utf8')).toBe('- hosts: all\n');
      await expect(access(join(destination, 'unknown'))).rejects.toThrow('ENOENT');
    });

    it('continues after a killed sync', async () => {
      const destination = freshFolder();
      await sync({ destination });
      const locks = ['index.lock', 'config.lock', 'HEAD.lock', 'refs/remotes/origin/main.lock'];
      const pack = 'objects/pack/tmp_pack_left';
      await mkdir(join(destination, '.git/objects/pack'), { recursive: true });
      for (const name of [...locks, pack]) await writeFile(join(destination, '.git', name), '');
      const newer = await commit('after-kill.yml', 'x');
      expect((await sync({ destination })).revision).toBe(newer);
      await expect(access(join(destination, '.git', pack))).rejects.toThrow('ENOENT');
    });

    it('continues after a sync that ended between two files', async () => {
      // Only a sandbox limits the size of a file.
      if (kind === 'none') return;
      const destination = freshFolder();
      await commit('first', 'one');
      await sync({ destination });
      await writeFile(join(origin, 'second'), Buffer.alloc(3_000_000));
      await commit('first', 'two');
      const ended = sync({ destination, maxFolderBytes: 1_000_000 });
      await expect(ended).rejects.toThrow('git checkout failed');
      expect(await readFile(join(destination, 'first'), 'utf8')).toBe('two');
      await rm(join(origin, 'second'));
      const newest = await commit('first', 'three');
      expect((await sync({ destination })).revision).toBe(newest);
    });

    it('deletes the folder first on request', async () => {
      const destination = freshFolder();
      await sync({ destination });
      await writeFile(join(destination, '.git', 'stray'), 'x');
      await sync({ destination, deleteOnUpdate: true });
      await expect(access(join(destination, '.git', 'stray'))).rejects.toThrow('ENOENT');
    });

    it.each([
      [{ branch: 'no-such-branch' }, 'The revision "no-such-branch" does not exist'],
      [{ branch: 'f'.repeat(40) }, 'does not exist in the repository'],
      [{ branch: '--upload-pack=touch /tmp/x' }, 'is not a valid branch'],
      [{ refspec: '--exec=x' }, 'is not a valid refspec'],
      [{ url: '--upload-pack=x' }, 'Invalid git URL'],
      [{ url: 'ext::sh -c whoami' }, 'Invalid git URL'],
      [{ url: 'ext::sh' }, 'Invalid git URL'],
      [{ url: '/srv/x', reach: reachOf(['https']) }, 'scheme "file" are not allowed'],
      [{ url: 'file:///nowhere/at/all' }, 'git fetch failed'],
    ] as [Partial<SyncRequest>, string][])('refuses %j', async (settings, message) => {
      await expect(sync(settings)).rejects.toThrow(message);
    });

    it('does not time out because the clock of the machine is set', async () => {
      const { now } = Date;
      let hours = 0;
      Date.now = () => now() + (hours += 1) * 3_600_000;
      try {
        await expect(sync({ timeoutSeconds: 600 })).resolves.toBeDefined();
      } finally {
        Date.now = now;
      }
    });

    it('does not run hooks', async () => {
      const destination = freshFolder();
      await sync({ destination });
      const hook = join(destination, '.git', 'hooks', 'post-checkout');
      await mkdir(join(destination, '.git', 'hooks'), { recursive: true });
      await writeFile(hook, `#!/bin/sh\ntouch ${folder.dir}/hook-ran\n`);
      await chmod(hook, 0o755);
      await commit('fourth.yml', 'x');
      await sync({ destination });
      await expect(access(join(folder.dir, 'hook-ran'))).rejects.toThrow('ENOENT');
    });
  });

  describe('checkoutRevision', () => {
    it('fetches a commit that is newer than the last sync and does not change the repository', async () => {
      const repository = freshFolder();
      const { revision: older } = await sync({ destination: repository });
      const newer = await commit('newer.yml', 'x');
      const request = { repository, source: source(), sandbox };
      const revisions = isFull(kind) ? [newer, older, 'main', newer] : [newer];
      const copies = await Promise.all(
        revisions.map((revision) =>
          checkoutRevision({ ...request, revision, destination: freshFolder() }),
        ),
      );
      expect(copies.map((copy) => copy.revision)).toEqual(
        revisions.map((revision) => (revision === 'main' ? newer : revision)),
      );
      await expect(access(join(repository, 'newer.yml'))).rejects.toThrow('ENOENT');
      await expect(
        checkoutRevision({ repository, revision: newer, destination: freshFolder(), sandbox }),
      ).rejects.toThrow('does not exist in the repository');
    });

    if (!isFull(kind)) return;

    it('copies the synced commit without the source', async () => {
      const repository = freshFolder();
      const { revision } = await sync({ destination: repository });
      const destination = freshFolder();
      await expect(
        checkoutRevision({ repository, revision, destination, sandbox }),
      ).resolves.toMatchObject({
        revision,
      });
      expect(await readFile(join(destination, 'site.yml'), 'utf8')).toBe('- hosts: all\n');
      const byName = await checkoutRevision({
        repository,
        revision: 'main',
        destination: freshFolder(),
        sandbox,
      });
      expect(byName.revision).toBe(revision);
    });
  });

  describe('credentials', () => {
    const seen: string[] = [];
    let server: Server;
    let port: number;
    beforeAll(async () => {
      server = createServer((request, response) => {
        seen.push(request.headers.authorization ?? '');
        if (request.headers.authorization) response.writeHead(404).end();
        else response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      port = (server.address() as AddressInfo).port;
    });
    afterAll(() => new Promise((resolve) => server.close(resolve)));

    it('are sent to the host of the project and never shown', async () => {
      const destination = freshFolder();
      const output: string[] = [];
      const error = await sync({
        url: `http://127.0.0.1:${port}/repo.git`,
        credential: { username: 'us@er', password: 'p4ss:w/rd' },
        destination,
        onOutput: (text) => output.push(text),
      }).catch((reason: unknown) => reason);
      expect(String(error)).toContain('git fetch failed');
      expect(seen).toContain(`Basic ${Buffer.from('us@er:p4ss:w/rd').toString('base64')}`);
      const config = await readFile(join(destination, '.git', 'config'), 'utf8');
      for (const text of [output.join(''), JSON.stringify(error), String(error), config]) {
        expect(text).not.toContain('p4ss');
      }
    });

    it('a sync stops after its timeout, on cancellation, and if the host stays silent', async () => {
      const slow = createServer(() => undefined);
      await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/r.git`;
      await expect(sync({ url, timeoutSeconds: 1 })).rejects.toMatchObject({ reason: 'timeout' });
      await expect(sync({ url, signal: AbortSignal.timeout(300) })).rejects.toMatchObject({
        reason: 'canceled',
      });
      jest.replaceProperty(GIT_SILENCE, 'GIT_HTTP_LOW_SPEED_TIME', '1');
      await expect(sync({ url })).rejects.toThrow('Operation too slow');
      slow.closeAllConnections();
      await new Promise((resolve) => slow.close(resolve));
    });

    it('may be a private key that no argument shows', async () => {
      const key = join(folder.dir, 'key');
      await rm(key, { force: true });
      await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'open sesame', '-f', key]);
      const sshKeyData = await readFile(key, 'utf8');
      const url = 'ssh://git@127.0.0.1:9/r.git';
      const good = sync({ url, credential: { sshKeyData, sshKeyUnlock: 'open sesame' } });
      await expect(good).rejects.toThrow('git fetch failed');
      const bad = sync({ url, credential: { sshKeyData, sshKeyUnlock: 'wrong' } });
      await expect(bad).rejects.toThrow('The SSH private key cannot be used');
      const error = await good.catch((reason: unknown) => reason);
      expect(JSON.stringify(error) + String(error)).not.toContain(sshKeyData.split('\n')[2]);
    });

    if (!isFull(kind)) return;

    it('are removed from the URL', async () => {
      seen.length = 0;
      const destination = freshFolder();
      await expect(
        sync({ url: `http://bob:s3cr3t-w@127.0.0.1:${port}/r.git`, destination }),
      ).rejects.toThrow('git fetch failed');
      expect(seen).toContain(`Basic ${Buffer.from('bob:s3cr3t-w').toString('base64')}`);
      expect(await readFile(join(destination, '.git', 'config'), 'utf8')).not.toContain('s3cr3t');
    });

    it('are not sent to another host', async () => {
      seen.length = 0;
      const repository = freshFolder();
      await mkdir(repository);
      const inOrigin = (...args: string[]): Promise<unknown> =>
        execute('git', args, { cwd: repository });
      await inOrigin('init', '-q');
      const module = `[submodule "m"]\n\tpath = m\n\turl = http://127.0.0.1:${port}/m.git\n`;
      await writeFile(join(repository, '.gitmodules'), module);
      await inOrigin('add', '.');
      await inOrigin('update-index', '--add', '--cacheinfo', `160000,${'a'.repeat(40)},m`);
      await inOrigin('-c', 'user.name=t', '-c', 'user.email=t@e.org', 'commit', '-q', '-m', 'm');
      await expect(
        sync({
          url: `file://${repository}`,
          credential: { username: 'bob', password: 's3cr3t-w' },
        }),
      ).rejects.toThrow('git submodule failed');
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.join('')).toBe('');
    });
  });
});
