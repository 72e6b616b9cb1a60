import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { percentiles } from './load.mjs';
import { createTemplate } from './objects.mjs';
import { report } from './report.mjs';
import { startServer, startWorker } from './servers.mjs';
import { until } from './until.mjs';
import { caller, createWorld, withDatabase } from './world.mjs';

const execute = promisify(execFile);

const RUNS = 24;
const CONCURRENCY = 4;
const TURNS = 2;
const DELIVERIES = 10;
const BUDGET = { ratio: 0.95 };
/** Playbook of the product and of the comparison. */
const PLAYBOOK = 'hello_world.yml';

/**
 * Compares real playbooks, four at a time, of one sandboxed worker with plain `ansible-runner` and
 * `ansible-playbook` with the same playbook and host, in alternation; and measures how long a signed delivery
 * waits for its first task.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchRuns({ root, environment }) {
  const folder = await mkdtemp(join(environment.TMPDIR ?? tmpdir(), 'bench-runs-'));
  const settings = { DATA_DIR: join(folder, 'data'), JOB_CONCURRENCY: String(CONCURRENCY) };
  const world = await createWorld({ root, environment, name: 'bench_runs', settings });
  const server = await startServer(join(root, 'dist/main.js'), world.environment);
  const call = caller(server.url, world.admin);
  const { template } = await createTemplate(world, call, { webhook_service: 'service_a' });
  await cp(join(folder, 'data/projects/demo_project'), join(folder, 'project'), {
    recursive: true,
  });
  const worker = startWorker(root, world.environment);
  try {
    return await withDatabase(world.environment.DATABASE_URL, async (client) => {
      const jobs = jobsIn(client);
      await jobs.workerRegistered();
      const launch = async () => {
        const { jobs: before } = await jobs.ended();
        const started = performance.now();
        await call('POST', 'bulk/job_launch/', {
          name: 'Bench',
          jobs: Array.from({ length: RUNS }, () => ({ unified_job_template: template.id })),
        });
        await until(async () => (await jobs.ended()).jobs >= before + RUNS, 20);
        return (performance.now() - started) / 1000;
      };
      /** @type {Record<'product' | 'runner' | 'playbook', number>} */
      const seconds = { product: 0, runner: 0, playbook: 0 };
      await launch();
      for (let turn = 0; turn < TURNS; turn++) {
        seconds.product += await launch();
        seconds.runner += await timeOf((id) => executeRunner(folder, `${turn}-${id}`));
        seconds.playbook += await timeOf(() => executePlaybook(folder));
      }
      const { failed } = await jobs.ended();
      const rate = (/** @type {number} */ elapsed) => ({ perSecond: (TURNS * RUNS) / elapsed });
      const product = { ...rate(seconds.product), failed };
      const key = (await call('GET', `job_templates/${template.id}/webhook_key/`)).webhook_key;
      const waits = await deliver(`${server.url}/api/v2/job_templates/${template.id}`, key, jobs);
      return report(`Runs, ${CONCURRENCY} at a time`, [
        {
          name: 'compared with ansible-runner',
          product,
          limit: rate(seconds.runner),
          budget: BUDGET,
          note: `${Math.round((60 * RUNS * TURNS) / seconds.product)} a minute`,
        },
        { name: 'compared with ansible-playbook', product, limit: rate(seconds.playbook) },
        { name: 'from a delivery to its first task', product: percentiles(waits) },
      ]);
    });
  } finally {
    await worker.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns queries about jobs. @param {import('pg').Client} client */
const jobsIn = (client) => ({
  workerRegistered: () =>
    until(async () => (await client.query('SELECT 1 FROM worker_nodes')).rows.length > 0),
  ended: async () => {
    const { rows } = await client.query(
      `SELECT count(*) FILTER (WHERE status IN ('successful', 'failed', 'error'))::int AS jobs,
         count(*) FILTER (WHERE status IN ('failed', 'error'))::int AS failed
       FROM unified_jobs WHERE type = 'job'`,
    );
    return rows[0];
  },
  newest: async () => {
    const { rows } = await client.query('SELECT max(id) AS id FROM unified_jobs');
    return Number(rows[0].id);
  },
  hasStartedTask: async (/** @type {number} */ after) => {
    const { rows } = await client.query(
      `SELECT 1 FROM job_events WHERE job_id > $1 AND event = 'playbook_on_task_start'`,
      [after],
    );
    return rows.length > 0;
  },
});

/**
 * Executes as many runs as the product, with the same concurrency, and returns their duration.
 *
 * @param {(id: number) => Promise<unknown>} start
 * @returns {Promise<number>} seconds
 */
async function timeOf(start) {
  const started = performance.now();
  let next = 0;
  const work = async () => {
    while (next < RUNS) await start(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return (performance.now() - started) / 1000;
}

const INVENTORY =
  'localhost ansible_connection=local ansible_python_interpreter=/usr/bin/python3\n';

/**
 * @param {string} folder
 * @param {string} name
 */
async function executeRunner(folder, name) {
  const target = join(folder, 'alone', name);
  await mkdir(join(target, 'inventory'), { recursive: true });
  await cp(join(folder, 'project'), join(target, 'project'), { recursive: true });
  await writeFile(join(target, 'inventory/hosts'), INVENTORY);
  await execute('ansible-runner', ['run', '--json', '--playbook', PLAYBOOK, target], {
    maxBuffer: 1024 * 1024,
  });
}

/** @param {string} folder */
async function executePlaybook(folder) {
  const inventory = join(folder, 'hosts');
  await writeFile(inventory, INVENTORY);
  await execute('ansible-playbook', ['-i', inventory, join(folder, 'project', PLAYBOOK)]);
}

/**
 * Sends deliveries one after the other, each after the end of the previous run.
 *
 * @param {string} template URL
 * @param {string} key
 * @param {ReturnType<typeof jobsIn>} jobs
 * @returns {Promise<number[]>} milliseconds until the first task of each is stored
 */
async function deliver(template, key, jobs) {
  const body = JSON.stringify({ ref: 'refs/heads/main', after: 'a'.repeat(40), commits: [] });
  const signature = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
  /** @type {number[]} */
  const waits = [];
  for (let number = 0; number < DELIVERIES; number++) {
    const [{ jobs: before }, newest] = [await jobs.ended(), await jobs.newest()];
    const started = performance.now();
    const response = await fetch(`${template}/service_a/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-a-event': 'push',
        'x-service-a-delivery': `bench-${number}`,
        'x-service-a-signature-256': signature,
      },
      body,
    });
    if (response.status !== 202) throw new Error(`A delivery returned ${response.status}`);
    await until(() => jobs.hasStartedTask(newest), 5);
    waits.push(performance.now() - started);
    await until(async () => (await jobs.ended()).jobs > before);
  }
  return waits;
}
