import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Settings } from '../../config/settings.js';
import type { Database } from '../../database/database.js';
import { findIsolation, type Isolation, refusalOf } from './isolation.js';
import { SandboxService } from './sandbox.service.js';

const none = (isChosen: boolean): Isolation => ({ mode: 'none', detail: 'no bwrap', isChosen });
const one = (): Promise<boolean> => Promise.resolve(false);
const settingsIn = (folder: string, more: object = {}): Settings =>
  Settings.load({
    ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
    ...{ DATA_DIR: folder, ...more },
  });
const several = (): Promise<boolean> => Promise.resolve(true);

describe('a worker without a sandbox', () => {
  let uid: ReturnType<typeof jest.spyOn>;
  const be = (number: number): void => {
    uid = jest.spyOn(process, 'getuid').mockReturnValue(number);
  };
  afterEach(() => uid.mockRestore());

  it('accepts no runs as root, for any number of organizations', async () => {
    be(0);
    expect(await refusalOf(none(false), 'auto', one)).toContain(
      'As root this worker starts no runs',
    );
  });

  it('accepts the runs of one organization under another account', async () => {
    be(1000);
    expect(await refusalOf(none(false), 'auto', one)).toBeNull();
    expect(await refusalOf(none(false), 'auto', several)).toContain('more than one organization');
  });

  it('accepts no runs if a sandbox is required, and any run if isolation is off', async () => {
    be(1000);
    expect(await refusalOf(none(false), 'bubblewrap', one)).toContain('no bwrap');
    be(0);
    expect(await refusalOf(none(true), 'none', several)).toBeNull();
  });
});

describe('a bubblewrap that fails', () => {
  const { PATH } = process.env;
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stub-'));
    process.env.PATH = `${folder}:${PATH}`;
  });
  afterEach(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['setting up uid map: Permission denied', 'bwrap-userns-restrict'],
    ['loopback: Failed RTM_NEWADDR: Operation not permitted', 'bwrap-userns-restrict'],
    ['No permissions to create a new namespace', 'unprivileged_userns_clone'],
    ['Creating new namespace failed: Operation not permitted', 'unprivileged_userns_clone'],
    [
      'Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
      'user.max_user_namespaces',
    ],
    ["Can't mount proc on /newroot/proc: Operation not permitted", 'unmask it'],
    ['Unknown option --perms', 'older than 0.5'],
  ])('with the error %j, is reported with a remedy', async (complaint, advice) => {
    const stub = `#!/bin/sh\necho "bwrap: ${complaint}" >&2\nexit 1\n`;
    writeFileSync(join(folder, 'bwrap'), stub, { mode: 0o755 });
    const { mode, detail } = await findIsolation(settingsIn(folder));
    expect(mode).toBe('none');
    expect(detail).toContain(complaint);
    expect(detail).toContain(advice);
  });
});

describe('a container engine that fails', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'stub-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Creates an engine that fails with a message for every command except `--version`. */
  function stub(complaint: string): Record<string, string> {
    const file = join(folder, 'engine');
    const version = '[ "$1" = --version ] && echo "podman version 4.3.1" && exit 0';
    const lines = ['#!/bin/sh', version, `echo "${complaint}" >&2`, 'exit 125', ''];
    writeFileSync(file, lines.join('\n'), { mode: 0o755 });
    return { JOB_CONTAINER_ENGINE: file, JOB_CONTAINER_IMAGE: 'tools', JOB_ISOLATION: 'container' };
  }
  const found = (settings: object) => findIsolation(settingsIn(folder, settings));

  it.each([
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock', 'a running engine'],
    ['exec: newuidmap: executable file not found in $PATH', '/etc/subuid'],
    ['crun: creating cgroup directory: No such file or directory', 'the package runc'],
    ['tools: image not known', 'tools: image not known'],
  ])('with the error %j, is reported with a remedy', async (complaint, advice) => {
    const { mode, detail } = await found(stub(complaint));
    expect(mode).toBe('none');
    expect(detail).toContain(complaint.replace('$PATH', ''));
    expect(detail).toContain(advice);
  });

  it('is reported if it is not installed or no image is set', async () => {
    const wanted = { JOB_ISOLATION: 'container', JOB_CONTAINER_ENGINE: '/no/podman' };
    expect((await found(wanted)).detail).toContain('JOB_CONTAINER_IMAGE names no image');
    const { detail } = await found({ ...wanted, JOB_CONTAINER_IMAGE: 'tools' });
    expect(detail).toContain('/no/podman is not installed (install the package podman)');
  });

  it('is checked after bubblewrap, and both errors are reported', async () => {
    writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\necho broken >&2\nexit 1\n', { mode: 0o755 });
    const { PATH } = process.env;
    process.env.PATH = `${folder}:${PATH}`;
    const both = { ...stub('no image'), JOB_ISOLATION: 'auto' };
    try {
      expect((await found(both)).detail).toMatch(/^broken; .*engine: no image$/);
      expect((await found({ JOB_ISOLATION: 'auto' })).detail).toBe('broken');
      expect((await found({ ...both, JOB_ISOLATION: 'bubblewrap' })).detail).toBe('broken');
    } finally {
      process.env.PATH = PATH;
    }
    expect((await found(both)).mode).toBe('bubblewrap');
  });
});

it('an image is tried again after an error of the engine', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  try {
    const engine = join(folder, 'engine');
    const settings = settingsIn(folder, { JOB_CONTAINER_ENGINE: engine });
    const sandbox = new SandboxService(settings, Object.create(null) as Database);
    await expect(sandbox.containersOf('1', 'tools')).rejects.toThrow('is not installed');
    const script = '#!/bin/sh\n[ "$1" = --version ] && echo podman version 1 || exit 1\n';
    writeFileSync(engine, script, { mode: 0o755 });
    expect(await sandbox.containersOf('1', 'tools')).toContain(engine);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
