import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { NODE_FLAGS } from '../processes/node-flags.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const READY_SECONDS = 60;

/** Starts the API process on a free port. */
export async function startServer(main, environment) {
  const port = await freePort();
  const child = startProcess('api', main, { ...environment, PORT: String(port) });
  const url = `http://127.0.0.1:${port}`;
  for (let waited = 0; waited < READY_SECONDS * 10; waited++) {
    const ready = await fetch(`${url}/health/ready`).catch(() => null);
    if (ready?.ok) return { url, pid: child.pid, stop: () => stop(child) };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The API did not become ready.');
}

/** Starts a worker process; it takes up work as soon as it is ready. */
export function startWorker(root, environment) {
  const child = startProcess('worker', join(root, 'dist/src/worker.js'), environment);
  return { pid: child.pid, stop: () => stop(child) };
}

/** Starts the raw server with what was recorded. */
export async function startRaw(environment, recorded) {
  const file = join(environment.DATA_DIR, 'recorded.json');
  writeFileSync(file, JSON.stringify(recorded));
  const child = fork(join(here, 'raw-server.mjs'), [file], {
    env: { ...process.env, ...environment },
  });
  const [{ port }] = await once(child, 'message');
  return { url: `http://127.0.0.1:${port}`, stop: () => stop(child) };
}

function startProcess(name, main, environment) {
  return spawn(process.execPath, [...NODE_FLAGS[name], main], {
    env: { ...process.env, ...environment, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

async function stop(child) {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
