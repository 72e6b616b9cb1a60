import { join } from 'node:path';

import { measure } from './load.mjs';
import { record, statementsOf } from './record.mjs';
import { report } from './report.mjs';
import { seedHosts } from './seed.mjs';
import { startRaw, startServer } from './servers.mjs';
import { makeWorld } from './world.mjs';

/** Requests of an ordinary user on a big table. */
const scenarios = (pages) => [
  { name: 'list 25, no count', path: '/api/v2/hosts/?count_disabled=1', budget: { ratio: 0.5 } },
  { name: 'list 25, exact count', path: '/api/v2/hosts/', budget: { perSecond: 1000 } },
  {
    name: 'list 200, no count',
    path: '/api/v2/hosts/?count_disabled=1&page_size=200',
    budget: { ratio: 0.6 },
  },
  {
    name: `page ${pages}`,
    path: `/api/v2/hosts/?count_disabled=1&page=${pages}`,
    budget: { p99: 60 },
  },
  { name: 'filter by name', path: '/api/v2/hosts/?count_disabled=1&name=host-0000500' },
  { name: 'one object', path: '/api/v2/hosts/1/' },
];

/** Lists over `rows` hosts, the product and the raw server by turns. */
export async function benchLists({ root, environment, rows }) {
  const world = await makeWorld({ root, environment, name: 'bench_lists' });
  const headers = { authorization: `Bearer ${await seedHosts(world, rows)}` };
  const wanted = scenarios(Math.max(1, Math.floor(rows / 25)));
  const recorded = await record({
    ...world,
    exchanges: wanted.map(({ path }) => ({ key: path, path, headers })),
  });
  const server = await startServer(join(root, 'dist/src/main.js'), world.environment);
  const raw = await startRaw(world.environment, recorded);
  try {
    const results = [];
    for (const scenario of wanted) {
      const { path } = scenario;
      const ours = await measure(`${server.url}${path}`, headers);
      const primitive = await measure(`${raw.url}${path}`, headers);
      results.push({ ...scenario, ours, primitive, statements: statementsOf(recorded[path]) });
    }
    report(`Lists over ${rows.toLocaleString('en')} hosts`, results);
  } finally {
    await Promise.all([server.stop(), raw.stop()]);
  }
}
