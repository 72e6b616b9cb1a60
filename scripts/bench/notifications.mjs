import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { percentiles } from './load.mjs';
import { createTemplate } from './objects.mjs';
import { setEnvironment, startInProcess } from './in-process.mjs';
import { report } from './report.mjs';
import { startWorker } from './servers.mjs';
import { until } from './until.mjs';
import { caller, createWorld, withDatabase } from './world.mjs';

const MANY = 3000;
const SINGLE = 50;
/** Number of receivers. Together they may occupy all concurrent sends of a worker. */
const RECEIVERS = 5;

/**
 * Measures notifications of ended runs from the commit on: how many one worker delivers with their attempts
 * recorded, and the time until a single notification arrives.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchNotifications({ root, environment }) {
  const settings = { OUTBOUND_ALLOW: '127.0.0.0/8' };
  const world = await createWorld({ root, environment, name: 'bench_notifications', settings });
  const sinks = await Promise.all(Array.from({ length: RECEIVERS }, startSink));
  const restore = setEnvironment(world.environment);
  const app = await startInProcess(root);
  const worker = startWorker(root, world.environment);
  try {
    const call = caller(await app.getUrl(), world.admin);
    const { template } = await createTemplate(world, call);
    const { RunTransitions } = await import(
      pathToFileURL(join(root, 'dist/src/runs/run-transitions.service.js')).href
    );
    const transitions = app.get(RunTransitions, { strict: false });
    /** @param {readonly number[]} runs */
    const end = (runs) => transitions.move(runs, { from: ['running'], to: 'successful' });
    const results = await withDatabase(world.environment.DATABASE_URL, async (client) => {
      /** @type {number[]} */
      const jobs = [];
      for (const sink of sinks) jobs.push(await notifiedJob(template, call, sink.url));
      /** @type {(count: number, originals: readonly number[]) => Promise<number[]>} */
      const running = (count, originals) => copies(client, originals, count / originals.length);
      const first = jobs.slice(0, 1);
      const [sink] = sinks;
      if (!sink) throw new Error('There is no receiver');
      const single = await pickUp(await running(SINGLE, first), { end, sink });
      const toOne = await deliver(client, await running(MANY, first), end);
      const toAll = await deliver(client, await running(MANY, jobs), end);
      return [
        { name: 'one notification', product: single },
        { name: `${MANY} to one receiver`, product: toOne },
        { name: `${MANY} to ${RECEIVERS}`, product: toAll, budget: { perSecond: 500 } },
      ];
    });
    return report('Notifications of one worker', results);
  } finally {
    await worker.stop();
    await app.close();
    restore();
    for (const sink of sinks) sink.stop();
  }
}

/** Starts a webhook receiver that responds immediately. */
async function startSink() {
  let notify = () => {};
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.end('ok');
      notify();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    /** @returns {Promise<void>} */
    next: () => new Promise((resolve) => (notify = resolve)),
    stop: () => server.close(),
  };
}

/**
 * Creates an ended job, whose template notifies a receiver of successes.
 *
 * @param {{ id: number }} original
 * @param {import('./types.d.mts').Call} call
 * @param {string} url
 * @returns {Promise<number>} id of the job
 */
async function notifiedJob(original, call, url) {
  const name = `To ${url}`;
  const template = await call('POST', `job_templates/${original.id}/copy/`, { name });
  const notifier = await call('POST', 'notification_templates/', {
    name,
    organization: template.organization,
    notification_type: 'webhook',
    notification_configuration: { url, http_method: 'POST', headers: {} },
  });
  const path = `job_templates/${template.id}/notification_templates_success/`;
  await call('POST', path, { id: notifier.id });
  const { job } = await call('POST', `job_templates/${template.id}/launch/`, {});
  await until(async () => (await call('GET', `jobs/${job}/`)).finished !== null);
  return job;
}

/**
 * Creates running copies of each run, without a lease of a worker.
 *
 * @param {import('pg').Client} client
 * @param {readonly number[]} jobs
 * @param {number} count
 * @returns {Promise<number[]>} ids of the copies
 */
async function copies(client, jobs, count) {
  const { rows: columns } = await client.query(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
     WHERE table_name = 'unified_jobs' AND column_name NOT IN ('id', 'status')`,
  );
  const { names } = columns[0];
  const { rows } = await client.query(
    `INSERT INTO unified_jobs (status, ${names})
     SELECT 'running', ${names} FROM unified_jobs, generate_series(1, $2) WHERE id = ANY($1::bigint[])
     RETURNING id`,
    [jobs, count],
  );
  return rows.map(({ id }) => id);
}

/**
 * @param {readonly number[]} runs
 * @param {{ end: (runs: readonly number[]) => Promise<unknown>, sink: { next: () => Promise<void> } }} context
 */
async function pickUp(runs, { end, sink }) {
  /** @type {number[]} */
  const latencies = [];
  for (const run of runs) {
    const arrival = sink.next();
    await end([run]);
    const committed = performance.now();
    await arrival;
    latencies.push(Math.max(0, performance.now() - committed));
  }
  return percentiles(latencies);
}

/**
 * @param {import('pg').Client} client
 * @param {readonly number[]} runs
 * @param {(runs: readonly number[]) => Promise<unknown>} end
 */
async function deliver(client, runs, end) {
  await end(runs);
  const started = performance.now();
  const countRecorded = async () => {
    const { rows } = await client.query(
      `SELECT count(*) FILTER (WHERE a.successful)::int AS recorded
       FROM notification_attempts a JOIN notifications n ON n.id = a.notification_id
       WHERE n.unified_job_id = ANY($1::bigint[])`,
      [runs],
    );
    return rows[0].recorded;
  };
  await until(async () => (await countRecorded()) >= runs.length);
  return { perSecond: runs.length / ((performance.now() - started) / 1000) };
}
