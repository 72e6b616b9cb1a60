import { join } from 'node:path';

import { assertSame, measureBoth } from './compare.mjs';
import { postmasterOf } from './cost.mjs';
import { seed } from './data.mjs';
import { COVERED } from './limit/indexes.mjs';
import { scenariosOf } from './limit/scenarios.mjs';
import { readLoad } from './load.mjs';
import { report } from './report.mjs';
import { startLimit, startServer } from './servers.mjs';
import { createWorld } from './world.mjs';

const LIST = { ratio: 0.6, apiMs: 0.8, statements: 3 };
const OBJECT = { ratio: 0.5, apiMs: 0.5, statements: 2 };

/**
 * Compares lists and single objects of the product and the limit in alternation.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchLists({ root, environment, rows, seconds, turns, only }) {
  const world = await createWorld({ root, environment, name: 'bench_lists' });
  const main = join(root, 'dist/main.js');
  const { objects, member } = await seed(world, main, rows);
  const limit = await startLimit(world, { objects, prepare: COVERED });
  const product = await startServer(main, world.environment);
  try {
    const postmaster = await postmasterOf(world.environment.DATABASE_URL);
    const pair = { product, limit, postmaster };
    const loads = [];
    for (const { name, read, ...one } of scenariosOf(objects)) {
      if (!name.includes(only)) continue;
      const token = one.member ? member : world.admin;
      const headers = { authorization: `Bearer ${token}`, 'x-scenario': name };
      await assertSame(pair, { path: read.path, method: 'GET', headers });
      const load = readLoad(read.path, headers, seconds);
      loads.push({ name, load, budget: one.isObject ? OBJECT : LIST });
    }
    const results = await measureBoth(pair, loads, turns);
    return report(`Lists over ${rows.toLocaleString('en')} hosts`, results);
  } finally {
    await Promise.all([product.stop(), limit.stop()]);
  }
}
