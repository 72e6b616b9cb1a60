import { join } from 'node:path';

import { createTemplate } from './objects.mjs';
import { report } from './report.mjs';
import { startServer, startWorker } from './servers.mjs';
import { withInstantRunner } from './stub-runner.mjs';
import { until } from './until.mjs';
import { caller, createWorld, withDatabase } from './world.mjs';

const PLACED = 2000;
const EXECUTED = 300;

/**
 * Measures jobs of one bulk launch: first how fast the scheduler places them on workers with capacity for all
 * of them, then how many a real worker executes if runs end immediately.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchScheduler({ root, environment }) {
  const settings = { BULK_JOB_MAX_LAUNCH: String(PLACED) };
  const world = await createWorld({ root, environment, name: 'bench_scheduler', settings });
  const server = await startServer(join(root, 'dist/main.js'), world.environment);
  try {
    const call = caller(server.url, world.admin);
    const { template } = await createTemplate(world, call);
    const launch = (/** @type {number} */ count) =>
      call('POST', 'bulk/job_launch/', {
        name: 'Bench',
        jobs: Array.from({ length: count }, () => ({ unified_job_template: template.id })),
      });
    const ran = await measureRuns(world, () => launch(EXECUTED));
    const placed = await measurePlacement(world, () => launch(PLACED));
    return report('Starts of jobs', [
      {
        name: `${PLACED} placed by the scheduler`,
        product: placed,
        budget: { perSecond: 200 },
        note: 'statements of a pass: test/queue/scheduler.spec.ts',
      },
      { name: `${EXECUTED} run by one worker`, product: ran },
    ]);
  } finally {
    await server.stop();
  }
}

/**
 * Measures the time from the response to a launch until all jobs are placed on a worker.
 *
 * @param {import('./types.d.mts').World} world
 * @param {() => Promise<unknown>} launch
 */
async function measurePlacement({ root, environment }, launch) {
  return withDatabase(environment.DATABASE_URL, async (client) => {
    await client.query(
      `INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity, last_seen)
       VALUES ('bench', 'bench', 'bench', 0, '', $1, now() + interval '1 hour')`,
      [PLACED],
    );
    await client.query(
      `INSERT INTO instances (hostname, cpu_capacity, mem_capacity) VALUES ('bench', $1, $1)`,
      [10 * PLACED],
    );
    const worker = startWorker(root, instantEnvironment(environment, 1));
    await workerRegistered(client);
    await launch();
    const started = performance.now();
    await until(async () => {
      const { rows } = await client.query(
        `SELECT count(*)::int AS count FROM unified_jobs WHERE type = 'job'
           AND status IN ('waiting', 'running', 'successful')`,
      );
      return rows[0].count >= EXECUTED + PLACED;
    }, 20);
    const seconds = (performance.now() - started) / 1000;
    await worker.stop();
    return { perSecond: PLACED / seconds };
  });
}

/**
 * @param {import('./types.d.mts').World} world
 * @param {() => Promise<unknown>} launch
 */
async function measureRuns({ root, environment }, launch) {
  return withDatabase(environment.DATABASE_URL, async (client) => {
    const worker = startWorker(root, instantEnvironment(environment, 8));
    await workerRegistered(client);
    await launch();
    const started = performance.now();
    await until(async () => {
      const { rows } = await client.query(
        `SELECT count(*)::int AS count FROM unified_jobs
         WHERE type = 'job' AND status = 'successful'`,
      );
      return rows[0].count >= EXECUTED;
    });
    const seconds = (performance.now() - started) / 1000;
    await worker.stop();
    return { perSecond: EXECUTED / seconds };
  });
}

/**
 * @param {NodeJS.ProcessEnv} environment
 * @param {number} concurrency
 */
const instantEnvironment = (environment, concurrency) => ({
  ...withInstantRunner(environment),
  JOB_CONCURRENCY: String(concurrency),
});

/** Waits until a worker is registered in the database. @param {import('pg').Client} client */
const workerRegistered = (client) =>
  until(async () => {
    const { rows } = await client.query("SELECT 1 FROM worker_nodes WHERE name <> 'bench'");
    return rows.length > 0;
  });
