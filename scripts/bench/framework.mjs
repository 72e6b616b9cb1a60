import { join } from 'node:path';

import { assertSame, measureBoth } from './compare.mjs';
import { postmasterOf } from './cost.mjs';
import { seed } from './data.mjs';
import { COVERED } from './limit/indexes.mjs';
import { scenariosOf } from './limit/scenarios.mjs';
import { readLoad } from './load.mjs';
import { report } from './report.mjs';
import { startFramework, startLimit } from './servers.mjs';
import { createWorld } from './world.mjs';

const SCENARIOS = ['one host', 'one template', 'inventories', 'teams', 'all hosts, by id', 'jobs'];

/**
 * Compares Nest and Express, with the statements of the limit, with the limit: the maximum speed of an
 * application of this framework.
 *
 * @param {import('./types.d.mts').SuiteInput} input
 */
export async function benchFramework({ root, environment, rows, seconds, turns, only }) {
  const world = await createWorld({ root, environment, name: 'bench_framework' });
  const { objects } = await seed(world, join(root, 'dist/main.js'), rows);
  const limit = await startLimit(world, { objects, prepare: COVERED });
  const framework = await startFramework(world, objects);
  try {
    const postmaster = await postmasterOf(world.environment.DATABASE_URL);
    const pair = { product: framework, limit, postmaster };
    const loads = [];
    for (const { name, read } of scenariosOf(objects)) {
      if (!SCENARIOS.includes(name) || !name.includes(only)) continue;
      const headers = { authorization: `Bearer ${world.admin}`, 'x-scenario': name };
      await assertSame(pair, { path: read.path, method: 'GET', headers });
      const load = readLoad(read.path, headers, seconds);
      loads.push({ name, load });
    }
    const results = await measureBoth(pair, loads, turns);
    return report('The framework with the statements of the limit ("product")', results);
  } finally {
    await Promise.all([framework.stop(), limit.stop()]);
  }
}
