import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { report } from './report.mjs';
import { startServer, startWorker } from './servers.mjs';
import { createWorld } from './world.mjs';

const SETTLE_MS = 15_000;

/**
 * Measures the resident memory of both processes when they have started and are idle.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchMemory({ root, environment }) {
  const world = await createWorld({ root, environment, name: 'bench_memory' });
  const server = await startServer(join(root, 'dist/main.js'), world.environment);
  const worker = startWorker(root, world.environment);
  try {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const results = [];
    for (const { name, pid, limit } of [
      { name: 'api', pid: server.pid, limit: 140 },
      { name: 'worker', pid: worker.pid, limit: 140 },
    ]) {
      const megabytes = await residentMegabytes(pid);
      const note = `${Math.round(megabytes)} MB`;
      results.push({ name, megabytes, note, budget: { megabytes: limit } });
    }
    return report('Idle memory', results);
  } finally {
    await Promise.all([server.stop(), worker.stop()]);
  }
}

/** Returns the resident memory in megabytes, as counted by the Linux kernel. @param {number} pid */
async function residentMegabytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
