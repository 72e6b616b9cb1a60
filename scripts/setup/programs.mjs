import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { lastLogLines, Problem } from '../console/problem.mjs';
import { step } from '../console/progress.mjs';
import { NODE_FLAGS } from '../processes/node-flags.mjs';
import { displayPath } from './data-folder.mjs';
import { browserUrl } from './settings.mjs';
import { canDropRoot } from './unprivileged.mjs';

const READY_LIMIT_MS = 90_000;
const POLL_MS = 50;
const STOP_GRACE_MS = 27_000; // Both programs end within 25 s.
const WORKER_READY = 'worker ready';
const PROGRAMS = /** @type {const} */ ([
  ['api', 'main.js'],
  ['worker', 'worker.js'],
]);

/** @typedef {{ by?: string, detail?: string, refusal?: string }} Isolation */
/** @typedef {{ settings: import('./settings.mjs').StartSettings, files: import('./data-folder.mjs').DataFiles,
 *   supervisor: import('../processes/supervise.mjs').Supervisor, environment: NodeJS.ProcessEnv,
 *   tools: { find(tool: string): string | null },
 *   unprivileged: import('./unprivileged.mjs').Unprivileged | null }} Context */

/**
 * Starts API and worker together and waits until both are ready. Resolves to the worker's report about the
 * isolation of its runs.
 *
 * @param {Context} context
 * @returns {Promise<{ isolation: Isolation | null }>}
 */
export async function startPrograms(context) {
  const { settings, files, supervisor, environment } = context;
  /** @type {Isolation | null} */
  let isolation = null;
  await step('API and worker', async () => {
    const logs = { api: files.log('api'), worker: files.log('worker') };
    const workerLogStart = sizeOf(logs.worker);
    for (const [name, entry] of PROGRAMS) {
      supervisor.start({
        name,
        ...commandOf(context, name, entry),
        options: { cwd: settings.root, env: environment },
        logFile: logs[name],
        stopSignal: 'SIGTERM',
        graceMs: STOP_GRACE_MS,
      });
    }
    const ready = `${browserUrl(settings)}/health/ready`;
    await until(() => responds(ready), 'The API', supervisor.exited('api'), logs.api);
    supervisor.keepAlive('api');
    const isReady = () => textFrom(logs.worker, workerLogStart).includes(WORKER_READY);
    await until(isReady, 'The worker', supervisor.exited('worker'), logs.worker);
    supervisor.keepAlive('worker');
    isolation = isolationIn(textFrom(logs.worker, workerLogStart));
    return 'ready';
  });
  return { isolation };
}

/**
 * @param {Context} context
 * @param {'api' | 'worker'} name
 * @param {string} entry
 */
function commandOf({ settings, tools, unprivileged, environment }, name, entry) {
  const program = join(settings.root, 'dist', entry);
  const command = { file: process.execPath, args: [...NODE_FLAGS[name], program] };
  if (!unprivileged) return command;
  if (name === 'api') return unprivileged.command(command, settings.port);
  return canDropRoot(unprivileged, tools, environment) ? unprivileged.command(command) : command;
}

/**
 * Returns the log entry of a worker that has tried to isolate a run.
 *
 * @param {string} log
 * @returns {Isolation | null}
 */
function isolationIn(log) {
  for (const line of log.split('\n')) {
    if (!line.includes('"context":"Sandbox"')) continue;
    const { by, detail, refusal } = JSON.parse(line);
    return { by, detail, refusal };
  }
  return null;
}

/**
 * @param {() => boolean | Promise<boolean>} isReady
 * @param {string} title
 * @param {Promise<unknown>} exited
 * @param {string} logFile
 */
async function until(isReady, title, exited, logFile) {
  let ended = false;
  void exited.then(() => (ended = true));
  const deadline = Date.now() + READY_LIMIT_MS;
  while (!ended && Date.now() < deadline) {
    if (await isReady()) return;
    await pause(POLL_MS);
  }
  const how = ended ? 'ended before it was ready' : `is not ready after ${READY_LIMIT_MS / 1000} s`;
  const logLines = lastLogLines(logFile, 12);
  throw new Problem(`${title} ${how} (its log is ${displayPath(logFile)})`, logLines);
}

/** @param {string} url */
async function responds(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3000), redirect: 'error' });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** @param {string} path */
function sizeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * @param {string} path
 * @param {number} start
 */
function textFrom(path, start) {
  const size = sizeOf(path);
  // A log that was truncated is read from its beginning.
  const from = size < start ? 0 : start;
  const bytes = Buffer.alloc(size - from);
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, 0, bytes.length, from);
  } finally {
    closeSync(file);
  }
  return bytes.toString('utf8');
}
