/**
 * A PostgreSQL that hangs without being down does not block requests, and is used again when it recovers.
 *
 * Budget: 25 s, because it waits for the timeout of a database that hangs.
 */
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { FreezingProxy } from '../support/fakes/freezing-proxy.js';

const POOL = 3;

let proxy: FreezingProxy;
let test: TestApp;
beforeAll(async () => {
  proxy = await FreezingProxy.start(process.env.DATABASE_URL!);
  test = await boot({
    settings: { STATEMENT_TIMEOUT_MS: '500', DATABASE_POOL_SIZE: String(POOL) },
    database: (url) => proxy.through(url),
  });
});
afterAll(async () => {
  proxy.thaw();
  await test.close();
  proxy.stop();
});

it('a database that hangs causes 503 for all requests, and recovers', async () => {
  const { as } = test;
  const read = () => as.superuser.get('teams/');
  const write = () => as.superuser.patch(`teams/${test.home.team.id}/`, { description: 'x' });
  await Promise.all(Array.from({ length: POOL }, () => read().expect(200)));
  proxy.freeze();
  const started = performance.now();
  // Some wait for a statement, some for the pool, the last two for a connection.
  const requests = [write(), read(), read(), read(), write()];
  const first = await Promise.all(requests);
  const late = await Promise.all([read(), write()]);
  expect(performance.now() - started).toBeLessThan(20_000);
  for (const { status, body, headers } of [...first, ...late]) {
    expect([status, body]).toEqual([
      503,
      { detail: 'The service is temporarily unavailable. Try again.' },
    ]);
    expect(headers['retry-after']).toBe('5');
  }
  proxy.thaw();
  await eventually(() => read().expect(200), 10_000);
  // Results of queries sent before the recovery must not appear on a connection that is in use now.
  for (let round = 0; round < 2 * POOL; round++) {
    const { body } = await read().expect(200);
    expect(body.results.map(({ id }: { id: number }) => id)).toContain(test.home.team.id);
    await write().expect(200);
  }
}, 60_000);
