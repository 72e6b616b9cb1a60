import { join } from 'node:path';

import { measureBoth } from './compare.mjs';
import { postmasterOf } from './cost.mjs';
import { seed } from './data.mjs';
import { readLoad } from './load.mjs';
import { report } from './report.mjs';
import { startServer } from './servers.mjs';
import { createWorld } from './world.mjs';

/** Limit on the API's processor time of a page with 200 rows (docs/performance.md). */
const BUDGET = { apiMs: 100 };
const ROWS = '?page_size=200';

/** Lists that users open, of 200 rows each. */
const LISTS = [
  'hosts',
  'groups',
  'inventories',
  'job_templates',
  'unified_job_templates',
  'jobs',
  'unified_jobs',
  'job_events',
  'teams',
  'activity_stream',
].map((name) => ({ name, path: `/api/v2/${name}/${ROWS}`, json: `/api/v2/${name}/${ROWS}` }));

/**
 * Compares pages with their JSON on the same server: the cost of rendering.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchPages({ root, environment, rows, seconds, turns, only }) {
  const world = await createWorld({ root, environment, name: 'bench_pages' });
  const main = join(root, 'dist/main.js');
  await seed(world, main, rows);
  const server = await startServer(main, world.environment);
  try {
    const postmaster = await postmasterOf(world.environment.DATABASE_URL);
    const authorization = `Bearer ${world.admin}`;
    const statistics = { name: 'statistics', path: '/statistics/', json: '/api/v2/statistics/' };
    // Two objects for the same server, which distinguish the loads.
    const [page, data] = [{ ...server }, { ...server }];
    const loads = [];
    for (const { name, path, json } of [...LISTS, statistics]) {
      if (!name.includes(only)) continue;
      const requestPage = readLoad(path, { authorization, accept: 'text/html' }, seconds);
      const requestData = readLoad(json, { authorization, accept: 'application/json' }, seconds);
      /** @param {import('./types.d.mts').RunningServer} target */
      const load = (target) => (target === page ? requestPage(target) : requestData(target));
      loads.push({ name, load, budget: BUDGET });
    }
    const pair = { product: page, limit: data, postmaster };
    const results = await measureBoth(pair, loads, turns);
    return report('Pages compared with their JSON', results);
  } finally {
    await server.stop();
  }
}
