import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { NODE_FLAGS } from '../processes/node-flags.mjs';
import { endWithRunningCommands } from '../processes/run.mjs';
import { createDatabase, withDatabase } from './world.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const READY_SECONDS = 60;

/**
 * Starts the API process on a free port.
 *
 * @param {string} main
 * @param {NodeJS.ProcessEnv} environment
 * @param {readonly string[]} [flags] of Node, in addition to those of the API
 * @returns {Promise<import('./types.d.mts').RunningServer>}
 */
export async function startServer(main, environment, flags = []) {
  const port = await freePort();
  const child = startProcess(main, { ...environment, PORT: String(port) }, [
    ...NODE_FLAGS.api,
    ...flags,
    '--import',
    join(folder, 'count-statements.mjs'),
  ]);
  const url = `http://127.0.0.1:${port}`;
  for (let waited = 0; waited < READY_SECONDS * 10; waited++) {
    const ready = await fetch(`${url}/health/ready`).catch(() => null);
    if (ready?.ok) return serverOf(child, url);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The API did not become ready.');
}

/**
 * Starts the limit (docs/decisions/0072-bench-limit.md) with a copy of the database of a world, and additional
 * indexes. The API of that world must not run yet.
 *
 * @param {import('./types.d.mts').World} world
 * @param {{ objects?: import('./limit/routes.d.mts').Objects, prepare: readonly string[] }} options
 *   `prepare` are the statements that adapt the copy to the limit
 * @returns {Promise<import('./types.d.mts').RunningServer>}
 */
export async function startLimit({ environment }, { objects = {}, prepare }) {
  const copied = await createDatabase(environment.DATABASE_URL, ...copyOf(environment));
  await withDatabase(copied, async (client) => {
    for (const statement of prepare) await client.query(statement);
    await client.query('VACUUM ANALYZE');
  });
  return startComparison('server.mjs', { ...environment, DATABASE_URL: copied }, objects);
}

/**
 * Starts the framework with the database of a running limit.
 *
 * @param {import('./types.d.mts').World} world
 * @param {import('./limit/routes.d.mts').Objects} objects
 */
export function startFramework({ environment }, objects) {
  const url = new URL(environment.DATABASE_URL);
  [url.pathname] = copyOf(environment);
  return startComparison('framework.mjs', { ...environment, DATABASE_URL: url.href }, objects);
}

/**
 * Returns the names of the copy of a world's database, and of the database.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @returns {[copy: string, original: string]}
 */
function copyOf({ DATABASE_URL = '' }) {
  const original = new URL(DATABASE_URL).pathname.slice(1);
  return [`${original}_limit`, original];
}

/**
 * @param {string} program of the limit
 * @param {NodeJS.ProcessEnv} environment
 * @param {import('./limit/routes.d.mts').Objects} objects
 */
async function startComparison(program, environment, objects) {
  const child = startProcess(
    join(folder, 'limit', program),
    { ...environment, OBJECTS: JSON.stringify(objects) },
    ['--import', join(folder, 'count-statements.mjs')],
  );
  const [{ port }] = await once(child, 'message');
  return serverOf(child, `http://127.0.0.1:${port}`);
}

/**
 * Starts a worker process, which executes jobs as soon as it is ready.
 *
 * @param {string} root
 * @param {NodeJS.ProcessEnv} environment
 */
export function startWorker(root, environment) {
  const child = startProcess(join(root, 'dist/worker.js'), environment, NODE_FLAGS.worker);
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  return { pid: child.pid ?? 0, isAlive, stop: () => stop(child) };
}

/**
 * @param {string} main
 * @param {NodeJS.ProcessEnv} environment
 * @param {readonly string[]} flags of Node
 */
const startProcess = (main, environment, flags) =>
  endWithRunningCommands(
    fork(main, [], {
      execArgv: [...flags],
      env: { ...process.env, ...environment, LOG_LEVEL: 'error' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    }),
  );

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} url
 * @returns {import('./types.d.mts').RunningServer}
 */
const serverOf = (child, url) => ({
  url,
  pid: child.pid ?? 0,
  statements: async () => {
    child.send('statements');
    const [{ statements }] = await once(child, 'message');
    return statements;
  },
  memory: async () => {
    child.send('memory');
    const [{ memory }] = await once(child, 'message');
    return memory;
  },
  longestTurn: async (work) => {
    child.send('watch turns');
    const result = await work();
    child.send('longest turn');
    const [{ longestTurn }] = await once(child, 'message');
    return { result, longestTurn };
  },
  yamlTime: async (text) => {
    child.send({ yaml: text });
    const [{ yamlTime }] = await once(child, 'message');
    return yamlTime;
  },
  stop: () => stop(child),
});

/** @param {import('node:child_process').ChildProcess} child */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
}
