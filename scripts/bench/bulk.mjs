import { join } from 'node:path';

import { fetchJson, assertEqual, measureBoth, WARM_UPS } from './compare.mjs';
import { postmasterOf } from './cost.mjs';
import { seedTemplate } from './data.mjs';
import { WITHOUT_COUNTERS } from './limit/indexes.mjs';
import { sendEach } from './load.mjs';
import { createTemplate } from './objects.mjs';
import { report } from './report.mjs';
import { changesOf } from './row-changes.mjs';
import { startLimit, startServer } from './servers.mjs';
import { caller, createWorld, withDatabase } from './world.mjs';

/** @typedef {import('./types.d.mts').Sent} Sent */
/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {(nonce: string) => Sent} make
 * @property {number} count requests of a turn
 * @property {number} [connections]
 * @property {import('./types.d.mts').Budget} [budget]
 * @property {readonly string[]} [compared] fields of the response that must be equal
 */

const DELETED = 250;
/** Number of deletions of a turn. */
const DELETIONS = 12;
const SETTINGS = {
  BULK_BODY_LIMIT: String(64 * 1024 * 1024),
  BULK_HOST_MAX_CREATE: '100000',
  BULK_JOB_MAX_LAUNCH: '1000',
};
const TABLES = ['hosts', 'unified_jobs', 'workflow_job_nodes', 'activity_stream'];

/**
 * Measures bulk operations: sequential requests, and small requests also by several clients.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchBulk({ root, environment, turns, only }) {
  const world = await createWorld({ root, environment, name: 'bench_bulk', settings: SETTINGS });
  const main = join(root, 'dist/main.js');
  const objects = await prepare(world, main, turns);
  const limit = await startLimit(world, { prepare: WITHOUT_COUNTERS });
  const product = await startServer(main, world.environment);
  try {
    const postmaster = await postmasterOf(world.environment.DATABASE_URL);
    const pair = { product, limit, postmaster };
    const loads = [];
    for (const { name, make, compared = [], ...one } of scenarios(world.admin, objects)) {
      if (!name.includes(only)) continue;
      const changes = await changesOf(world, TABLES, (server) =>
        fetchJson(pair[server], make('same')),
      );
      for (const field of compared) {
        assertEqual(name, changes.product.answer[field], changes.limit.answer[field], field);
      }
      assertEqual(name, changes.product.rows, changes.limit.rows, 'new rows');
      const { count, connections = 1, budget } = one;
      const load = (/** @type {import('./types.d.mts').RunningServer} */ { url }) =>
        sendEach(url, make, { count, connections, expected: 201 });
      loads.push({ name, load, budget });
    }
    const results = await measureBoth(pair, loads, turns);
    return report('Bulk operations', results);
  } finally {
    await Promise.all([product.stop(), limit.stop()]);
  }
}

/**
 * Creates a template, and hosts to delete.
 *
 * @param {import('./types.d.mts').World} world
 * @param {string} main
 * @param {number} turns
 */
async function prepare(world, main, turns) {
  const server = await startServer(main, world.environment);
  const { template, inventory } = await createTemplate(world, caller(server.url, world.admin));
  await server.stop();
  // The first deletion is compared; the other deletions are different for each server.
  const deletions = 1 + 2 * DELETIONS * (WARM_UPS + turns);
  const ids = await withDatabase(world.environment.DATABASE_URL, async (client) => {
    const { rows } = await client.query(
      `INSERT INTO hosts (name, inventory_id, variables)
       SELECT 'gone-' || n, $1, 'rack: 7' FROM generate_series(1, $2) n RETURNING id`,
      [inventory, DELETED * deletions],
    );
    return rows.map(({ id }) => id);
  });
  await seedTemplate(world, template.id);
  return { template: template.id, inventory, ids };
}

/**
 * @param {string} token
 * @param {{ template: number, inventory: number, ids: readonly number[] }} objects
 * @returns {Scenario[]}
 */
function scenarios(token, { template, inventory, ids }) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  /** @type {(path: string, body: object) => Sent} */
  const post = (path, body) => ({
    ...{ path: `/api/v2/bulk/${path}/`, method: 'POST', headers },
    body: JSON.stringify(body),
  });
  /** @type {(size: number, prefix?: string) => Scenario['make']} */
  const create =
    (size, prefix = 'one') =>
    (nonce) =>
      post('host_create', {
        inventory,
        hosts: Array.from({ length: size }, (_none, index) => ({
          ...{ name: `${prefix}-${size}-${nonce}-${index}`, variables: 'rack: 7' },
        })),
      });
  /** @type {(jobs: number) => Scenario['make']} */
  const launch = (jobs) => (nonce) =>
    post('job_launch', {
      name: `bench ${nonce}`,
      jobs: Array.from({ length: jobs }, () => ({ unified_job_template: template })),
    });
  const remaining = deletions(ids);
  const deleted = (/** @type {string} */ nonce) => post('host_delete', { hosts: remaining(nonce) });
  const many = { connections: 8, count: 64, budget: { ratio: 0.6 } };
  return [
    {
      ...{ name: 'create 100 hosts', make: create(100), count: 25 },
      budget: { ratio: 0.6, statements: 8 },
    },
    { name: 'create 1,000', make: create(1000), count: 6, budget: { ratio: 0.6, statements: 8 } },
    {
      name: 'create 10,000',
      make: create(10_000),
      count: 1,
      budget: { ratio: 0.6, statements: 8 },
    },
    { name: 'create 100, 8 clients', make: create(100, 'many'), ...many },
    {
      ...{ name: 'delete 250 hosts', make: deleted, count: DELETIONS },
      compared: ['deleted', 'hosts'],
      budget: { ratio: 0.6 },
    },
    {
      ...{
        name: 'launch 100 jobs',
        make: launch(100),
        count: 20,
        compared: ['name', 'type', 'status'],
      },
      budget: { ratio: 0.5, apiMs: 4, statements: 15 },
    },
    {
      ...{ name: 'launch 1,000 jobs', make: launch(1000), count: 3, compared: ['name', 'type'] },
      budget: { ratio: 0.5, statements: 15 },
    },
  ];
}

/**
 * Both databases have the same hosts, which are deleted once: each nonce selects the next part of the hosts, and
 * the comparison selects the first part.
 *
 * @param {readonly number[]} ids
 */
function deletions(ids) {
  /** @type {Map<string, number>} */
  const indexes = new Map();
  return (/** @type {string} */ nonce) => {
    const index = indexes.get(nonce) ?? indexes.size;
    indexes.set(nonce, index);
    return ids.slice(index * DELETED, (index + 1) * DELETED);
  };
}
