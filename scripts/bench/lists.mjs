import { join } from 'node:path';

import { measure } from './load.mjs';
import { record } from './record.mjs';
import { report } from './report.mjs';
import { prepare } from './seed.mjs';
import { startRaw, startServer } from './servers.mjs';

/** Requests of an ordinary user on a big table; `budget` is the least ratio to raw (design 6). */
const scenarios = (pages) => [
  { name: 'list 25, no count', path: '/api/v2/hosts/?count_disabled=1', budget: 0.5 },
  { name: 'list 25, exact count', path: '/api/v2/hosts/', floor: 1000 },
  {
    name: 'list 200, no count',
    path: '/api/v2/hosts/?count_disabled=1&page_size=200',
    budget: 0.6,
  },
  { name: `page ${pages}`, path: `/api/v2/hosts/?count_disabled=1&page=${pages}`, p99: 60 },
  { name: 'filter by name', path: '/api/v2/hosts/?count_disabled=1&name=host-0000500' },
  { name: 'one object', path: '/api/v2/hosts/1/' },
];

/** Measures lists over `rows` hosts, the product and the raw server by turns. */
export async function benchLists({ root, environment, rows }) {
  const seeded = await prepare({ root, environment, rows });
  const wanted = scenarios(Math.max(1, Math.floor(rows / 25)));
  const recorded = await record({
    root,
    environment: seeded.environment,
    token: seeded.token,
    wanted,
  });
  const server = await startServer(join(root, 'dist/src/main.js'), seeded.environment);
  const raw = await startRaw(seeded.environment, recorded);
  try {
    const results = [];
    for (const scenario of wanted) {
      const headers = { authorization: `Bearer ${seeded.token}` };
      const ours = await measure(`${server.url}${scenario.path}`, headers);
      const primitive = await measure(`${raw.url}${scenario.path}`, headers);
      const { statements } = recorded[scenario.path];
      results.push({ ...scenario, ours, primitive, statements: statements.length });
    }
    report(`Lists over ${rows.toLocaleString('en')} hosts`, results);
  } finally {
    await Promise.all([server.stop(), raw.stop()]);
  }
}
