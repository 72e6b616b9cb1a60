/** Lists and objects of events are the same in every partition. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { RoleStore } from '../../src/common/access.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { multiply } from '../support/multiply.js';
import { Samples } from '../support/samples.js';

const PARTITIONS = 4;
const EVENTS = 15;

let test: TestApp;
let ids: number[];
let runs: number[];
beforeAll(async () => {
  test = await boot();
  const { database } = test;
  const job = await new Samples(test).of('job');
  const roles = test.app.get(RoleStore, { strict: false });
  runs = [];
  for (let made = 0; made < PARTITIONS; made++) {
    runs.push(...(await multiply(database, roles, 'job', job, 2)));
    await database.row(sql`SELECT extend_job_events(30)`);
    await database.row(sql`
      SELECT setval(pg_get_serial_sequence('unified_jobs', 'id'),
        (SELECT max(lower) FROM job_event_ranges()))`);
  }
  // Consecutive ids belong to different partitions.
  const rows = await database.rows<{ id: number }>(sql`
    INSERT INTO job_events (job_id, counter, event)
    SELECT run, n, 'runner_on_ok' FROM generate_series(1, ${EVENTS}::int) n,
      unnest(${runs}::bigint[]) WITH ORDINALITY runs (run, place) ORDER BY n, place RETURNING id`);
  ids = rows.map(({ id }) => id);
}, 60_000);
afterAll(() => test.close());

async function walk(path: string): Promise<number[]> {
  const seen: number[] = [];
  for (let next = path; next;) {
    const { body } = await test.as.superuser.get(next).expect(200);
    seen.push(...body.results.map(({ id }: Row) => id));
    next = body.next?.replace('/api/v2/', '') ?? '';
  }
  return seen;
}

it('events are in several partitions', async () => {
  const parts = await test.database.rows(sql`SELECT DISTINCT tableoid FROM job_events`);
  expect(parts.length).toBeGreaterThanOrEqual(PARTITIONS);
});

it.each([
  ['job_events/?page_size=7&event=runner_on_ok', 1],
  ['job_events/?page_size=7&event=runner_on_ok&order_by=-id', -1],
])('%s returns each event once, in order', async (path, direction) => {
  const ordered = [...ids].sort((one, other) => (one - other) * direction);
  expect(await walk(path)).toEqual(ordered);
});

it('each event is found by its id', async () => {
  for (const id of ids.slice(0, runs.length)) {
    const { body } = await test.as.superuser.get(`job_events/${id}/`).expect(200);
    expect(body).toMatchObject({ id, counter: 1 });
  }
  await test.as.superuser.get(`job_events/${Math.max(...ids) + 1}/`).expect(404);
});

it('a run has its own events, in any partition', async () => {
  for (const run of runs) {
    const { body } = await test.as.superuser.get(`jobs/${run}/job_events/`).expect(200);
    expect(body.results.map(({ counter }: Row) => counter)).toEqual(
      Array.from({ length: EVENTS }, (_none, index) => index + 1),
    );
  }
});
