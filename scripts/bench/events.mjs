import { join } from 'node:path';

import { createTemplate } from './objects.mjs';
import { report } from './report.mjs';
import { startServer, startWorker } from './servers.mjs';
import { withPrintingRunner } from './stub-runner.mjs';
import { until } from './until.mjs';
import { caller, createWorld, withDatabase } from './world.mjs';

const RUNS = [
  { name: 'at full speed', events: 60_000, perSecond: 1e9, budget: { perSecond: 10_000 } },
  // The lag of a source that is faster than the store would only measure how long the source prints.
  { name: 'at 5,000/s', events: 30_000, perSecond: 5000, budget: { p99: 1000 } },
];

/**
 * Measures the events of a job from the output of a program to the table, with a real worker. The latency is
 * the time from the creation of an event to the statement that stores the event.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchEvents({ root, environment }) {
  const world = await createWorld({ root, environment, name: 'bench_events' });
  const server = await startServer(join(root, 'dist/main.js'), world.environment);
  try {
    const call = caller(server.url, world.admin);
    const { template } = await createTemplate(world, call);
    const results = [];
    for (const { name, events, perSecond, budget } of RUNS) {
      const environmentOfWorker = withPrintingRunner(world.environment, events, perSecond);
      const worker = startWorker(root, environmentOfWorker);
      const { job } = await call('POST', `job_templates/${template.id}/launch/`, {});
      await until(async () => (await call('GET', `jobs/${job}/`)).status === 'successful');
      await worker.stop();
      results.push({ name, product: await stored(world, job, events), budget });
    }
    return report('Job events stored', results);
  } finally {
    await server.stop();
  }
}

/**
 * @param {import('./types.d.mts').World} world
 * @param {number} job
 * @param {number} expected
 */
function stored({ environment }, job, expected) {
  return withDatabase(environment.DATABASE_URL, async (client) => {
    const { rows } = await client.query(
      `SELECT count(*)::int AS count, extract(epoch FROM max(modified) - min(created))::float8 AS seconds,
        (percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (
          ORDER BY extract(epoch FROM modified - created) * 1000))::float8[] AS lags
       FROM job_events WHERE job_id = $1`,
      [job],
    );
    const { count, seconds, lags } = rows[0];
    const [p50, p95, p99] = lags;
    return { perSecond: count / seconds, failed: expected - count, p50, p95, p99 };
  });
}
