import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { directLaunch } from '../sandbox/command.js';
import { endMarked } from './orphans.js';
import { startRun } from './run-process.js';
import { createWorkspace, MARK_VARIABLE } from './workspace.js';

it('a run that ends before its sandbox is ready does not start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'run-'));
  const workspace = await createWorkspace(folder, 1, 1);
  const script = "trap '' TERM; while :; do sleep 1; done";
  const environment = { PATH: process.env.PATH ?? '', [MARK_VARIABLE]: workspace.mark };
  const run = startRun(
    {
      ...{ workspace, environment, args: ['-c', script], startFiles: [] },
      ...{ timeoutSeconds: 0.1, idleSeconds: 0, jobArgs: '', jobCwd: '', jobEnv: {} },
    },
    {
      executable: 'sh',
      wrap: (command) => sleep(500, directLaunch(command)),
      killGraceMs: 100,
      onEvents: () => undefined,
    },
  );
  try {
    expect(await run.wait()).toMatchObject({ rc: null, status: 'timeout' });
    expect(run.pid).toBeUndefined();
  } finally {
    await endMarked(workspace.mark, 0);
    rmSync(folder, { recursive: true });
  }
}, 10_000);

it('a run is not idle because the clock of the machine is set', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'run-'));
  const workspace = await createWorkspace(folder, 1, 1);
  const environment = { PATH: process.env.PATH ?? '', [MARK_VARIABLE]: workspace.mark };
  const { now } = Date;
  const run = startRun(
    {
      ...{ workspace, environment, args: ['-c', 'sleep 1.2'], startFiles: [] },
      ...{ timeoutSeconds: 0, idleSeconds: 600, jobArgs: '', jobCwd: '', jobEnv: {} },
    },
    {
      executable: 'sh',
      wrap: (command) => Promise.resolve(directLaunch(command)),
      onEvents: () => undefined,
    },
  );
  try {
    Date.now = () => now() + 3_600_000;
    expect(await run.wait()).toMatchObject({ rc: 0 });
  } finally {
    Date.now = now;
    rmSync(folder, { recursive: true });
  }
}, 10_000);
