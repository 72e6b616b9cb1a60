/**
 * Git runs in a sandbox, so that a hostile repository, or files planted in a checkout, execute and read
 * nothing outside of it.
 */
import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { checkoutRevision, syncProject } from '../../src/execution/runner/git-checkout.js';
import { sandboxIn } from '../runner/sandboxes.js';
import { HERE, TestRepository } from '../runner/git-servers.js';
import { createTestFolder, type TestFolder } from '../runner/playbooks.js';
import type { Sandbox } from '../../src/execution/sandbox/command.js';

const execute = promisify(execFile);
const SECRET = 'playbook of somebody else';

let folder: TestFolder;
let sandbox: Sandbox;
beforeAll(async () => {
  folder = await createTestFolder();
  sandbox = await sandboxIn(folder.dir);
});
afterAll(() => folder.remove());

let counter = 0;
const fresh = (name: string): string => join(folder.dir, `${name}-${(counter += 1)}`);

const sync = (url: string, destination = fresh('copy'), branch = '') =>
  syncProject({ url, destination, branch, reach: HERE, sandbox });

/** Creates a project of another organization on the same machine, with one commit. */
async function victim(): Promise<{ repository: TestRepository; commit: string }> {
  const path = fresh('victim');
  const repository = await TestRepository.create(path, { 'secret.yml': SECRET });
  return { repository, commit: await repository.git('rev-parse', 'HEAD') };
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Files planted in the folder of a synced project. */
interface Planted {
  readonly origin: TestRepository;
  readonly dir: string;
  /** Files that a planted command writes, inside and outside the folder. */
  readonly traces: readonly string[];
  readonly command: string;
}

async function synced(files: Record<string, string> = {}): Promise<Planted> {
  const origin = await TestRepository.create(fresh('origin'), { 'site.yml': '1', ...files });
  const dir = fresh('project');
  await sync(origin.url, dir);
  const traces = [join(dir, 'ran'), join(folder.dir, `ran-${(counter += 1)}`)];
  return { origin, dir, traces, command: `sh -c "touch ${traces.join(' ')} 2>/dev/null; cat"` };
}

async function ran({ traces }: Planted): Promise<boolean> {
  return (await Promise.all(traces.map(isThere))).includes(true);
}

describe('content of the repository of a project', () => {
  it.each<[string, (planted: Planted) => Promise<void>]>([
    ['a monitor of files', (planted) => configure(planted, 'core.fsmonitor', planted.command)],
    [
      'a filter',
      async (planted) => {
        await configure(planted, 'filter.evil.smudge', planted.command);
        await configure(planted, 'filter.evil.clean', planted.command);
        await writeFile(join(planted.dir, '.git', 'info', 'attributes'), '* filter=evil\n');
      },
    ],
    [
      'settings included from a file',
      async (planted) => {
        await configure(planted, 'include.path', 'more');
        const text = `[core]\n\tfsmonitor = ${JSON.stringify(planted.command)}\n`;
        await writeFile(join(planted.dir, '.git', 'more'), text);
      },
    ],
    [
      'a folder of hooks',
      async (planted) => {
        const hooks = join(planted.dir, '.git', 'evil');
        await mkdir(hooks);
        for (const name of ['post-checkout', 'reference-transaction', 'post-index-change']) {
          await writeFile(join(hooks, name), `#!/bin/sh\n${planted.command} </dev/null\n`);
          await chmod(join(hooks, name), 0o755);
        }
        await configure(planted, 'core.hooksPath', hooks);
      },
    ],
    [
      'settings of a work tree',
      async (planted) => {
        await configure(planted, 'extensions.worktreeConfig', 'true');
        const text = `[core]\n\tfsmonitor = ${JSON.stringify(planted.command)}\n`;
        await writeFile(join(planted.dir, '.git', 'config.worktree'), text);
      },
    ],
    [
      'a repository elsewhere, by a link',
      async (planted) => {
        await configure(planted, 'core.fsmonitor', planted.command);
        const elsewhere = fresh('elsewhere');
        await execute('mv', [join(planted.dir, '.git'), elsewhere]);
        await symlink(elsewhere, join(planted.dir, '.git'));
      },
    ],
    [
      'a repository elsewhere, by a file',
      async (planted) => {
        await configure(planted, 'core.fsmonitor', planted.command);
        const elsewhere = fresh('elsewhere');
        await execute('mv', [join(planted.dir, '.git'), elsewhere]);
        await writeFile(join(planted.dir, '.git'), `gitdir: ${elsewhere}\n`);
      },
    ],
  ])('is not executed: %s', async (_, plant) => {
    const planted = await synced();
    await mkdir(join(planted.dir, '.git', 'info'), { recursive: true });
    await plant(planted);
    await planted.origin.commit({ 'site.yml': '2' });
    await sync(planted.origin.url, planted.dir);
    expect(await ran(planted)).toBe(false);
  });

  it('is not executed for SSH', async () => {
    const planted = await synced();
    await configure(planted, 'core.sshCommand', planted.command);
    const url = 'ssh://git@127.0.0.1:9/x.git';
    await expect(sync(url, planted.dir)).rejects.toThrow('git fetch failed');
    expect(await ran(planted)).toBe(false);
  });

  it.each(['modules', 'link'])('is not executed in a submodule: %s', async (place) => {
    const part = await TestRepository.create(fresh('part'), { 'part.yml': '1' });
    const planted = await synced();
    await planted.origin.git('submodule', '--quiet', 'add', part.url, 'part');
    await planted.origin.commit({});
    await sync(planted.origin.url, planted.dir);
    const module = join(planted.dir, '.git', 'modules', 'part');
    if (place === 'link') {
      await execute('cp', ['-a', module, join(planted.dir, 'evil')]);
      await writeFile(join(planted.dir, 'part', '.git'), 'gitdir: ../evil\n');
    }
    const config = join(place === 'link' ? join(planted.dir, 'evil') : module, 'config');
    await execute('git', ['config', '--file', config, 'core.fsmonitor', planted.command]);
    await part.commit({ 'part.yml': '2' });
    await planted.origin.git('-C', 'part', 'pull', '-q', 'origin', 'main');
    await planted.origin.commit({});
    await sync(planted.origin.url, planted.dir);
    expect(await ran(planted)).toBe(false);
  });

  it('cannot refer to objects of other repositories', async () => {
    const { repository, commit } = await victim();
    const planted = await synced();
    const objects = join(repository.dir, '.git', 'objects');
    await mkdir(join(planted.dir, '.git', 'objects', 'info'), { recursive: true });
    const alternates = join(planted.dir, '.git', 'objects', 'info', 'alternates');
    await writeFile(alternates, `${objects}\n`);
    await expect(sync(planted.origin.url, planted.dir, commit)).rejects.toThrow('does not exist');
  });

  it('cannot refer to objects of other repositories during a job', async () => {
    const { repository, commit } = await victim();
    const job = (planted: Planted) =>
      checkoutRevision({
        ...{ repository: planted.dir, revision: commit, sandbox },
        ...{ destination: fresh('job'), source: { url: planted.origin.url, reach: HERE } },
      });
    const byLink = await synced();
    const objects = join(byLink.dir, '.git', 'objects');
    await rm(objects, { recursive: true });
    await symlink(join(repository.dir, '.git', 'objects'), objects);
    await expect(job(byLink)).rejects.toThrow('no repository');

    const byAlternates = await synced();
    await mkdir(join(byAlternates.dir, '.git', 'objects', 'info'), { recursive: true });
    await writeFile(
      join(byAlternates.dir, '.git', 'objects', 'info', 'alternates'),
      `${join(repository.dir, '.git', 'objects')}\n`,
    );
    await expect(job(byAlternates)).rejects.toThrow('does not exist');
  });
});

describe('a hostile source', () => {
  it('cannot read objects of other repositories', async () => {
    const { repository, commit } = await victim();
    const source = await TestRepository.create(fresh('source'), { 'site.yml': '1' });
    const info = join(source.dir, '.git', 'objects', 'info');
    await mkdir(info, { recursive: true });
    await writeFile(join(info, 'alternates'), `${repository.dir}/.git/objects\n`);
    await source.git('update-ref', 'refs/heads/stolen', commit);
    const copy = fresh('copy');
    await expect(sync(source.url, copy, 'stolen')).rejects.toThrow(/failed|does not exist/);
    expect(await isThere(join(copy, 'secret.yml'))).toBe(false);
  });

  it('cannot be a link to a forbidden folder', async () => {
    const { repository } = await victim();
    const path = fresh('source');
    await mkdir(path);
    await writeFile(join(path, '.git'), `gitdir: ${repository.dir}/.git\n`);
    await expect(sync(`file://${path}`)).rejects.toThrow('git fetch failed');
  });

  it.each(['ext::sh -c "touch /tmp/x"', 'fd::17', 'ftp://127.0.0.1/x'])(
    'cannot have a submodule at %s',
    async (url) => {
      const source = await TestRepository.create(fresh('source'), { 'site.yml': '1' });
      const module = `[submodule "m"]\n\tpath = m\n\turl = ${JSON.stringify(url)}\n`;
      await writeFile(join(source.dir, '.gitmodules'), module);
      await source.git('add', '.');
      await source.git('update-index', '--add', '--cacheinfo', `160000,${'a'.repeat(40)},m`);
      await source.git('commit', '-q', '-m', 'x');
      await expect(sync(source.url)).rejects.toThrow(/Invalid git URL|are not allowed/);
    },
  );

  it('cannot have a submodule with a path as its name, or run its commands', async () => {
    const part = await TestRepository.create(fresh('part'), { 'part.yml': '1' });
    const source = await TestRepository.create(fresh('source'), { 'site.yml': '1' });
    const trace = fresh('ran');
    await source.git('submodule', '--quiet', 'add', part.url, 'm');
    const module = `[submodule "../../../up"]\n\tpath = m\n\turl = ${part.url}\n\tupdate = !touch ${trace}\n`;
    await source.commit({ '.gitmodules': module });
    const copy = fresh('copy');
    await sync(source.url, copy).catch(() => undefined);
    expect(await isThere(trace)).toBe(false);
    expect(await readdir(folder.dir)).not.toContain('up');
  });

  it('cannot run a filter or a hook', async () => {
    const pointer = 'version https://git-lfs.example.org/spec/v1\noid sha256:0\nsize 1\n';
    const source = await TestRepository.create(fresh('source'), {
      '.gitattributes': '* filter=lfs diff=lfs merge=lfs\n',
      'large.bin': pointer,
      '.githooks/post-checkout': '#!/bin/sh\ntouch ran\n',
    });
    const copy = fresh('copy');
    await sync(source.url, copy);
    const { stdout } = await execute('cat', [join(copy, 'large.bin')]);
    expect(stdout).toBe(pointer);
    expect(await isThere(join(copy, 'ran'))).toBe(false);
  });
});

/** Program that behaves like `git` and prints the secrets it can reach. */
const SPY = `#!/bin/sh
{
  env | grep -E 'DATABASE_URL|REDIS_URL|SECRET_KEY' && echo 'its environment'
  ls "$DATA" && echo 'the data folder'
  cat "$VICTIM/secret.yml" && echo 'the project of another'
  cat /etc/shadow && echo shadow
  grep -l DATABASE_URL /proc/[0-9]*/environ && echo 'an environment'
  touch "$VICTIM/written" && echo 'wrote elsewhere'
  touch /usr/written && echo 'wrote to the system'
  unshare -U true && echo 'user namespace'
  test "$(id -u)" = 0 && echo root
  test "$(ls /run)" && echo sockets
} > found 2>/dev/null
exec /usr/bin/git "$@"
`;

describe('git', () => {
  it('cannot read the installation and other projects', async () => {
    const { repository } = await victim();
    const source = await TestRepository.create(fresh('source'), { 'site.yml': '1' });
    await mkdir(join(folder.dir, 'data', 'projects'), { recursive: true });
    const spy = fresh('programs');
    await mkdir(spy);
    const script = SPY.replaceAll('$DATA', join(folder.dir, 'data')).replaceAll(
      '$VICTIM',
      repository.dir,
    );
    await writeFile(join(spy, 'git'), script);
    await chmod(join(spy, 'git'), 0o755);
    await chmod(dirname(spy), 0o755);
    const path = process.env.PATH ?? '';
    process.env.PATH = `${spy}:${path}`;
    try {
      const copy = fresh('copy');
      const shown = await sandboxIn(folder.dir, { JOB_SHOW_PATHS: spy });
      await syncProject({ url: source.url, destination: copy, reach: HERE, sandbox: shown });
      const { stdout } = await execute('cat', [join(copy, 'found')]);
      expect(stdout).toBe('');
    } finally {
      process.env.PATH = path;
    }
  });
});

async function configure({ dir }: Planted, name: string, value: string): Promise<void> {
  await execute('git', ['config', '--file', join(dir, '.git', 'config'), name, value]);
}
