import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { percentiles } from './load.mjs';
import { report } from './report.mjs';
import { commitAll } from './repository.mjs';

const STARTS = 60;
const SYNCS = 40;
const MAX_ADDED_MS = 30;

/**
 * Measures the cost of the sandbox for the start and end of a run, and for a sync: a program without work,
 * started as a job is, and an unchanged project, each with and without a sandbox. Measurements with and without
 * a sandbox alternate, so that a busy moment affects both.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchIsolation({ root, environment }) {
  const load = (/** @type {string} */ path) =>
    import(pathToFileURL(join(root, 'dist/src', path)).href);
  const { Settings } = await load('config/settings.js');
  const { SandboxService } = await load('execution/sandbox/sandbox.service.js');
  const { sandboxOfRun } = await load('execution/sandbox/run-sandbox.js');
  const { createWorkspace, removeDirectory } = await load('execution/runner/workspace.js');
  const settings = Settings.load({ ...environment, JOB_ISOLATION: 'bubblewrap' });
  const sandbox = new SandboxService(settings, null);
  const { mode, detail } = await sandbox.isolation();
  if (mode === 'none') throw new Error(`The sandbox cannot be measured: ${detail}`);
  const folder = await mkdtemp(join(environment.TMPDIR ?? tmpdir(), 'bench-isolation-'));
  /** @type {(id: number, isIsolated: boolean) => Promise<number>} */
  const start = async (id, isIsolated) => {
    const innerDir = isIsolated ? await sandbox.innerDir() : undefined;
    const workspace = await createWorkspace(folder, id, 1, innerDir);
    const command = { file: 'true', args: [], cwd: workspace.inside.dir, environment };
    const started = performance.now();
    const launch = isIsolated
      ? await sandbox.wrap(command, await sandboxOfRun(workspace, [], true))
      : command;
    const { file, args, cwd } = launch;
    /** @type {import('node:child_process').StdioOptions} */
    const stdio = ['ignore', 'ignore', 'inherit', isIsolated ? 'pipe' : 'ignore'];
    const child = spawn(file, args, { cwd, env: launch.environment, stdio });
    const [code] = await once(child, 'exit');
    const duration = performance.now() - started;
    await removeDirectory(workspace.root);
    if (code !== 0) throw new Error(`The program ended with ${code}`);
    return duration;
  };
  try {
    /** @type {number[]} */
    const plain = [];
    /** @type {number[]} */
    const isolated = [];
    for (let id = 1; id <= STARTS; id++) {
      plain.push(await start(id, false));
      isolated.push(await start(id, true));
    }
    return report(`Start and end of a program, ${detail}`, [
      {
        name: 'inside the sandbox',
        product: figures(isolated),
        limit: figures(plain),
        budget: { addedMs: MAX_ADDED_MS },
        note: `without the sandbox ${percentiles(plain).p50?.toFixed(1)} ms`,
      },
      await syncs({ load, sandbox, folder }),
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * @param {object} input
 * @param {(path: string) => Promise<any>} input.load
 * @param {object} input.sandbox
 * @param {string} input.folder
 */
async function syncs({ load, sandbox, folder }) {
  const { syncProject } = await load('execution/runner/git-checkout.js');
  const { GitReach } = await load('code-hosts/git-reach.js');
  const { directLaunch } = await load('execution/sandbox/command.js');
  const origin = join(folder, 'origin');
  await mkdir(origin);
  await writeFile(join(origin, 'site.yml'), '- hosts: all\n');
  commitAll(origin);
  const reach = new GitReach({
    PROJECT_SCM_SCHEMES: ['file'],
    PROJECT_FILE_ROOTS: [folder],
    OUTBOUND_ALLOW: [],
    DATA_DIR: join(folder, 'data'),
  });
  const sync = async (/** @type {string} */ name, /** @type {object} */ sandbox) => {
    const started = performance.now();
    const destination = join(folder, name);
    await syncProject({ url: `file://${origin}`, reach, sandbox, destination });
    return performance.now() - started;
  };
  const none = { wrap: (/** @type {object} */ command) => Promise.resolve(directLaunch(command)) };
  /** @type {[number[], number[]]} */
  const [plain, isolated] = [[], []];
  for (let count = 0; count < SYNCS; count++) {
    plain.push(await sync('plain', none));
    isolated.push(await sync('isolated', sandbox));
  }
  return {
    name: 'sync inside the sandbox',
    product: figures(isolated),
    limit: figures(plain),
    budget: { addedMs: MAX_ADDED_MS },
    note: `without the sandbox ${percentiles(plain).p50?.toFixed(1)} ms`,
  };
}

/** @param {readonly number[]} times */
function figures(times) {
  const sum = times.reduce((total, time) => total + time, 0);
  return { perSecond: (1000 * times.length) / sum, ...percentiles(times) };
}
