import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { Settings } from '../../config/settings.js';
import { findIsolation, type Isolation, refusalOf } from './isolation.js';

const none = (isWanted: boolean): Isolation => ({ mode: 'none', detail: 'no bwrap', isWanted });
const one = (): Promise<boolean> => Promise.resolve(false);
const several = (): Promise<boolean> => Promise.resolve(true);

describe('a worker without a boundary', () => {
  let uid: ReturnType<typeof jest.spyOn>;
  const be = (number: number): void => {
    uid = jest.spyOn(process, 'getuid').mockReturnValue(number);
  };
  afterEach(() => uid.mockRestore());

  it('takes no runs as root, however few organizations there are', async () => {
    be(0);
    expect(await refusalOf(none(false), 'auto', one)).toContain('As root this worker runs none');
  });

  it('takes those of one organization as somebody else', async () => {
    be(1000);
    expect(await refusalOf(none(false), 'auto', one)).toBeNull();
    expect(await refusalOf(none(false), 'auto', several)).toContain('more than one organization');
  });

  it('takes none where a boundary is demanded, and any where none is wanted', async () => {
    be(1000);
    expect(await refusalOf(none(false), 'bubblewrap', one)).toContain('no bwrap');
    be(0);
    expect(await refusalOf(none(true), 'none', several)).toBeNull();
  });
});

describe('a bubblewrap that does not work', () => {
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
  ])('saying %j leads to what helps', async (complaint, advice) => {
    const stub = `#!/bin/sh\necho "bwrap: ${complaint}" >&2\nexit 1\n`;
    writeFileSync(join(folder, 'bwrap'), stub, { mode: 0o755 });
    const settings = Settings.load({
      ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
      DATA_DIR: folder,
    });
    const { mode, detail } = await findIsolation(settings);
    expect(mode).toBe('none');
    expect(detail).toContain(complaint);
    expect(detail).toContain(advice);
  });
});
