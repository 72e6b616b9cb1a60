import { join } from 'node:path';

import { measureEach } from './load.mjs';
import { NONCE } from './nonce.mjs';
import { makeTemplate } from './objects.mjs';
import { record, statementsOf } from './record.mjs';
import { report } from './report.mjs';
import { makeHosts } from './seed.mjs';
import { startRaw, startServer } from './servers.mjs';
import { caller, makeWorld, spreadIds, withDatabase } from './world.mjs';

const CREATE = '/api/v2/bulk/host_create/';
const DELETED = 250;
const SETTINGS = {
  BULK_BODY_LIMIT: String(64 * 1024 * 1024),
  BULK_HOST_MAX_CREATE: '100000',
  BULK_JOB_MAX_LAUNCH: '1000',
};

/** Bulk operations: one request after another, and small ones by several clients too. */
export async function benchBulk({ root, environment }) {
  const world = await makeWorld({ root, environment, name: 'bench_bulk', settings: SETTINGS });
  const server = await startServer(join(root, 'dist/src/main.js'), world.environment);
  let raw;
  try {
    const call = caller(server.url, world.admin);
    const made = await makeTemplate(world, call);
    await spreadIds(world);
    const results = [];
    const creates = scenarios(world.admin, made.inventory);
    const recorded = await record({
      ...world,
      exchanges: creates.map(({ name, make }) => ({ key: name, ...make(NONCE) })),
    });
    raw = await startRaw(world.environment, recorded);
    for (const one of creates) {
      const how = { count: one.count, connections: one.connections ?? 1, expected: one.expected };
      const ours = await measureEach(server.url, one.make, how);
      const replayed = (nonce) => {
        const sent = one.make(nonce);
        return {
          ...sent,
          headers: { ...sent.headers, 'x-exchange': one.name, 'x-nonce': nonce },
        };
      };
      const primitive = one.isReplayed ? await measureEach(raw.url, replayed, how) : undefined;
      results.push({ ...one, ours, primitive, statements: statementsOf(recorded[one.name]) });
    }
    results.push(await deletes(world, server, made.inventory));
    for (const jobs of [100, 1000]) results.push(await launches(world, server, made, jobs));
    report('Bulk operations', results);
  } finally {
    await Promise.all([server.stop(), raw?.stop()]);
  }
}

/** Creations of hosts, each with names of its own. */
function scenarios(token, inventory) {
  const headers = (type) => ({ authorization: `Bearer ${token}`, 'content-type': type });
  const hostsOf = (nonce, size, word) =>
    Array.from({ length: size }, (_none, index) => ({
      name: `${word}-${size}-${nonce}-${index}`,
      variables: 'rack: 7',
    }));
  const whole = (size, word) => (nonce) => ({
    path: CREATE,
    method: 'POST',
    headers: headers('application/json'),
    body: JSON.stringify({ inventory, hosts: hostsOf(nonce, size, word) }),
  });
  const lines = (size) => (nonce) => ({
    path: `${CREATE}?inventory=${inventory}`,
    method: 'POST',
    headers: headers('application/x-ndjson'),
    body: hostsOf(nonce, size, 'line')
      .map((host) => JSON.stringify(host))
      .join('\n'),
  });
  const creates = [
    { size: 100, count: 200, budget: { ratio: 0.5, p95: 15, statements: 8 } },
    { size: 1000, count: 40 },
    { size: 10_000, count: 12, budget: { ratio: 0.5, p95: 300, statements: 8 } },
    { size: 100_000, count: 3 },
  ].map(({ size, ...rest }) => ({
    name: `create ${size.toLocaleString('en')} hosts`,
    make: whole(size, 'one'),
    expected: 201,
    isReplayed: true,
    ...rest,
  }));
  const streamed = { make: lines(100_000), count: 3, expected: 201 };
  return [
    ...creates,
    {
      ...creates[0],
      name: 'create 100, 8 clients',
      make: whole(100, 'many'),
      connections: 8,
      budget: { ratio: 0.5 },
    },
    { ...streamed, name: 'create 100,000 as lines' },
  ];
}

async function deletes({ environment, admin }, server, inventory) {
  const count = 60;
  // The warm-up deletes too.
  await makeHosts(environment.DATABASE_URL, inventory, DELETED * (count + 10));
  const ids = await withDatabase(environment.DATABASE_URL, async (client) => {
    const { rows } = await client.query(
      "SELECT id FROM hosts WHERE name LIKE 'host-%' ORDER BY id",
    );
    return rows.map(({ id }) => id);
  });
  const make = () => ({
    path: '/api/v2/bulk/host_delete/',
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ hosts: ids.splice(0, DELETED) }),
  });
  const ours = await measureEach(server.url, make, { count, connections: 1, expected: 201 });
  const budget = { p95: 15 };
  return { name: `delete ${DELETED} hosts`, ours, budget };
}

async function launches({ environment, root, admin }, server, { template }, jobs) {
  const make = (nonce) => ({
    path: '/api/v2/bulk/job_launch/',
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: `bench ${nonce}`,
      jobs: Array.from({ length: jobs }, () => ({ unified_job_template: template.id })),
    }),
  });
  const how = { count: jobs > 100 ? 12 : 40, connections: 1, expected: 201 };
  const ours = await measureEach(server.url, make, how);
  const name = `launch ${jobs.toLocaleString('en')} jobs`;
  const recorded = await record({ root, environment, exchanges: [{ key: name, ...make(NONCE) }] });
  const budget = { p95: jobs > 100 ? 200 : 40, statements: 15 };
  return { name, ours, budget, statements: statementsOf(recorded[name]) };
}
