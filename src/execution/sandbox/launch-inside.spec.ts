import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Settings } from '../../config/settings.js';
import { findIsolation } from './isolation.js';
import { launchInside } from './launch-inside.js';

const execute = promisify(execFile);

it('the sandbox shows no host paths in the process list of a run', async () => {
  const root = mkdtempSync(join(tmpdir(), 'launch-'));
  try {
    const dir = join(root, 'runner');
    mkdirSync(dir);
    const settings = Settings.load({
      ...{ DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' },
      ...{ DATA_DIR: root, JOB_ISOLATION: 'bubblewrap' },
    });
    const isolation = await findIsolation(settings);
    if (isolation.mode === 'none') throw new Error(isolation.detail);
    const binds = [{ from: dir, to: '/runner', isWritable: true }];
    const spec = { root, binds, home: '/runner', name: 'job-1', hasNetwork: true };
    const environment = { PATH: process.env.PATH ?? '' };
    const show = 'tr "\\0" " " < /proc/1/cmdline; cat /proc/[0-9]*/cmdline | tr "\\0" " "';
    const command = { file: 'sh', args: ['-c', show], environment, cwd: '/runner' };
    const launch = await launchInside(isolation.plan, command, spec, settings);
    // bubblewrap writes the state of the process to descriptor 3.
    const shell = ['-c', 'exec "$@" 3> /dev/null', 'sh', launch.file, ...launch.args];
    const { stdout } = await execute('sh', shell, { cwd: '/', env: launch.environment });
    expect(stdout).toContain('bwrap');
    expect(stdout).not.toContain(root);
    expect(stdout).not.toContain(settings.DATA_DIR);
  } finally {
    rmSync(root, { recursive: true });
  }
});
