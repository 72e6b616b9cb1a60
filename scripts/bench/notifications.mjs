import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { percentiles } from './load.mjs';
import { makeTemplate } from './objects.mjs';
import { setEnvironment, startInProcess } from './record.mjs';
import { report } from './report.mjs';
import { startWorker } from './servers.mjs';
import { until } from './until.mjs';
import { caller, makeWorld, withDatabase } from './world.mjs';

const MANY = 3000;
const SINGLE = 50;

/**
 * Notifications of runs that end, from the commit that ends them: how many one worker delivers with
 * their attempts recorded, and how long a single one takes to its receiver.
 */
export async function benchNotifications({ root, environment }) {
  const settings = { OUTBOUND_ALLOW: '127.0.0.0/8' };
  const world = await makeWorld({ root, environment, name: 'bench_notifications', settings });
  const sink = await startSink();
  const restore = setEnvironment(world.environment);
  const app = await startInProcess(root);
  const worker = startWorker(root, world.environment);
  try {
    const call = caller(await app.getUrl(), world.admin);
    await attach(world, call, sink.url);
    const { RunTransitions } = await import(
      pathToFileURL(join(root, 'dist/src/jobs/transitions.js')).href
    );
    const transitions = app.get(RunTransitions, { strict: false });
    const end = (runs) => transitions.move(runs, { from: ['running'], to: 'successful' });
    const { job } = await call('POST', `job_templates/${world.template}/launch/`, {});
    const results = await withDatabase(world.environment.DATABASE_URL, async (client) => [
      {
        name: 'pick-up of one',
        ours: await pickUp(await copies(client, job, SINGLE), { end, sink }),
      },
      {
        name: `${MANY} at once`,
        ours: await deliver(client, await copies(client, job, MANY), end),
        budget: { perSecond: 500 },
      },
    ]);
    report('Notifications of one worker', results);
  } finally {
    await worker.stop();
    await app.close();
    restore();
    sink.stop();
  }
}

/** A webhook receiver that answers at once. */
async function startSink() {
  let heard = () => undefined;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.end('ok');
      heard();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    next: () => new Promise((resolve) => (heard = resolve)),
    stop: () => server.close(),
  };
}

async function attach(world, call, url) {
  const { template } = await makeTemplate(world, call);
  const notifier = await call('POST', 'notification_templates/', {
    name: 'Sink',
    organization: template.organization,
    notification_type: 'webhook',
    notification_configuration: { url, http_method: 'POST', headers: {} },
  });
  const path = `job_templates/${template.id}/notification_templates_success/`;
  await call('POST', path, { id: notifier.id });
  world.template = template.id;
}

/** Running copies of a run; no worker holds them. @returns their ids */
async function copies(client, job, count) {
  const { rows: columns } = await client.query(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
     WHERE table_name = 'unified_jobs' AND column_name NOT IN ('id', 'status')`,
  );
  const { names } = columns[0];
  const { rows } = await client.query(
    `INSERT INTO unified_jobs (status, ${names})
     SELECT 'running', ${names} FROM unified_jobs, generate_series(1, $2) WHERE id = $1
     RETURNING id`,
    [job, count],
  );
  return rows.map(({ id }) => id);
}

async function pickUp(runs, { end, sink }) {
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

async function deliver(client, runs, end) {
  await end(runs);
  const started = performance.now();
  const counted = async () => {
    const { rows } = await client.query(
      `SELECT count(*) FILTER (WHERE a.successful)::int AS recorded
       FROM notification_attempts a JOIN notifications n ON n.id = a.notification_id
       WHERE n.unified_job_id = ANY($1::int[])`,
      [runs],
    );
    return rows[0].recorded;
  };
  await until(async () => (await counted()) >= runs.length);
  return { perSecond: runs.length / ((performance.now() - started) / 1000) };
}
