/**
 * Totals of events, activity, notifications and deliveries stay exact however their rows are written
 * (docs/decisions/0110-kept-totals.md), and lists show the same numbers as a count.
 */
import { TYPES_WITHOUT_IDS } from '../../src/activity/activity-total.entity.js';
import { RoleStore } from '../../src/common/access.js';
import { resource, resources, type Row } from '../../src/common/resource/define-resource.js';
import { sql, type Sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { multiply } from '../support/multiply.js';
import { PERSONA_NAMES } from '../support/personas.js';
import { Samples } from '../support/samples.js';

const COPIES = 30;

let test: TestApp;
let samples: Samples;
let job: Row;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  job = await samples.of('job');
  const roles = test.app.get(RoleStore, { strict: false });
  for (const type of ['job', 'project_update', 'inventory_update', 'ad_hoc_command']) {
    await multiply(test.database, roles, type, await samples.of(type), COPIES);
  }
  for (const type of ['activity_stream', 'notification', 'webhook_delivery']) {
    await multiply(test.database, roles, type, await samples.of(type), COPIES);
  }
  await storeEvents(3);
});
afterAll(() => test.close());

/** Stores some more events of each run in one statement. */
const storeEvents = (count: number): Promise<number> =>
  test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, uuid)
    SELECT run.id, coalesce((SELECT max(counter) FROM job_events WHERE job_id = run.id), 0) + n,
      'runner_on_ok', gen_random_uuid()::text
    FROM unified_jobs run CROSS JOIN generate_series(1, ${count}::int) n`);

const number = async (statement: Sql): Promise<number> =>
  (await test.database.row<{ number: number }>(sql`SELECT (${statement})::int AS number`))
    ?.number ?? NaN;

/** Returns runs with a wrong number of events, and groups of runs with a wrong sum. */
const wrongEvents = (): Promise<Row[]> =>
  test.database.rows(sql`
    SELECT 'run ' || id AS what FROM unified_jobs run
    WHERE event_total <> (SELECT count(*) FROM job_events WHERE job_id = run.id)
    UNION ALL
    SELECT concat_ws('/', type, status, kept.unified_job_template_id, kept.organization_id, kept.inventory_id)
    FROM (
      SELECT type, status, unified_job_template_id, job_template_id, organization_id, inventory_id,
        is_bulk_job, sum(event_total) AS total FROM run_totals GROUP BY 1, 2, 3, 4, 5, 6, 7) kept
    WHERE total <> (
      SELECT coalesce(sum(t.event_total), 0) FROM unified_jobs t
      WHERE t.type = kept.type AND t.status = kept.status
        AND (t.unified_job_template_id, t.job_template_id, t.organization_id, t.inventory_id,
          t.is_bulk_job) IS NOT DISTINCT FROM (kept.unified_job_template_id, kept.job_template_id,
          kept.organization_id, kept.inventory_id, kept.is_bulk_job))`);

async function expectEvents(): Promise<void> {
  expect(await wrongEvents()).toEqual([]);
  const kept = await number(sql`SELECT sum(event_total) FROM run_totals`);
  expect(kept).toBe(await number(sql`SELECT count(*) FROM job_events`));
  expect(kept).toBeGreaterThan(COPIES);
}

it('totals of events are updated when events are stored and removed', async () => {
  await expectEvents();
  await storeEvents(2);
  await expectEvents();
  // Storing a batch again changes nothing.
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event) SELECT job_id, counter, event FROM job_events
    ON CONFLICT (job_id, counter) DO NOTHING`);
  await expectEvents();
  await test.database.execute(sql`DELETE FROM job_events WHERE id % 4 = 0`);
  await expectEvents();
});

it('totals of events are updated when runs change owners or are deleted', async () => {
  await test.database.execute(sql`
    UPDATE unified_jobs SET status = CASE id % 3 WHEN 0 THEN 'failed' ELSE 'canceled' END,
      organization_id = CASE WHEN id % 2 = 0 THEN NULL ELSE organization_id END`);
  await expectEvents();
  await test.database.execute(sql`DELETE FROM unified_jobs WHERE id % 5 = 0 AND id <> ${job.id}`);
  await expectEvents();
});

it('totals of events are exact if events of many runs are stored at the same time', async () => {
  const runs = await test.database.rows<{ id: number }>(sql`
    SELECT id FROM unified_jobs ORDER BY id LIMIT 8`);
  const store = (id: number, batch: number): Promise<number> =>
    test.database.execute(sql`
      INSERT INTO job_events (job_id, counter, event)
      SELECT ${id}::bigint, 1000 + ${batch}::int * 10 + n, 'verbose' FROM generate_series(1, 7) n`);
  await Promise.all(
    Array.from({ length: 5 }, (_none, batch) => runs.map(({ id }) => store(id, batch))).flat(),
  );
  await expectEvents();
});

/** Long tables, the table with their totals, and the columns that group both. */
const HISTORIES: readonly (readonly [type: string, groups: string])[] = [
  ['activity_stream', 'actor_id, organization_id, object1, object2, parent_type, parent_id'],
  ['notification', 'notification_template_id'],
  ['webhook_delivery', 'template_id'],
];

const EMPTY: Readonly<Record<string, string>> = {
  activity_stream: 'UPDATE activity_stream SET actor_id = NULL WHERE id % 2 = 0',
  notification: "UPDATE notifications SET status = 'successful'",
  webhook_delivery: 'UPDATE webhook_deliveries SET template_id = NULL WHERE id % 2 = 0',
};

async function expectTotals(type: string, groups: string): Promise<void> {
  const { table, counter } = resource(type);
  const { rows } = await test.database.run({
    text: `WITH kept AS (
        SELECT ${groups}, sum(total)::int AS total FROM ${counter?.table} GROUP BY ${groups}),
      counted AS (SELECT ${groups}, count(*)::int AS total FROM ${table} GROUP BY ${groups})
      SELECT * FROM ((TABLE kept EXCEPT TABLE counted) UNION ALL (TABLE counted EXCEPT TABLE kept)) wrong
      WHERE total <> 0`,
    values: [],
  });
  expect(rows).toEqual([]);
}

it.each(HISTORIES)('totals of %s are updated by every write', async (type, groups) => {
  const { database } = test;
  const { table } = resource(type);
  const count = (): Promise<{ total: number } | undefined> =>
    database.row({ text: `SELECT count(*)::int AS total FROM ${table}` });
  const before = (await count())?.total ?? 0;
  expect(before).toBeGreaterThan(COPIES);
  await expectTotals(type, groups);
  await database.execute({ text: EMPTY[type] ?? '' });
  await expectTotals(type, groups);
  await database.execute({ text: `DELETE FROM ${table} WHERE id % 3 = 0` });
  await expectTotals(type, groups);
  expect((await count())?.total).toBeLessThan(before);
});

it('totals of activity omit the object for types without roles', () => {
  const held = resources().filter(({ roles }) => roles.length > 0);
  expect(held.length).toBeGreaterThan(5);
  const named = [...held.map(({ type }) => type), 'user'];
  expect(named.filter((type) => TYPES_WITHOUT_IDS.includes(type))).toEqual([]);
});

const SEEN = ['job_events/', 'activity_stream/', 'notifications/'];

it.each(SEEN)('totals for each caller equal the visible rows of %s', async (list) => {
  const totals = new Set<number>();
  for (const name of PERSONA_NAMES) {
    const { body } = await test.as[name].get(list).expect(200);
    const seen: number[] = [];
    for (let next = `${list}?page_size=200`; next;) {
      const page = (await test.as[name].get(next).expect(200)).body;
      seen.push(...page.results.map(({ id }: Row) => id));
      next = page.next?.replace('/api/v2/', '') ?? '';
    }
    expect([name, body.count]).toEqual([name, new Set(seen).size]);
    totals.add(body.count);
  }
  expect(totals.size).toBeGreaterThan(1);
});

it.each([
  ['notification', 'notification_templates', 'notifications'],
  ['webhook_delivery', 'job_templates', 'webhook_deliveries'],
])('totals of every %s below %s are exact', async (type, parents, list) => {
  const { counter } = resource(type);
  const [column] = Object.keys(counter?.columns ?? {});
  const found = await test.database.rows<{ id: number; total: number }>({
    text: `SELECT ${column} AS id, sum(total)::int AS total FROM ${counter?.table}
      WHERE ${column} IS NOT NULL GROUP BY 1 HAVING sum(total) > 1 LIMIT 1`,
  });
  const { id = 0, total = 0 } = found[0] ?? {};
  const add = (number: number): Promise<number> =>
    test.database.execute({
      text: `UPDATE ${counter?.table} SET total = total + $1 WHERE id = (
        SELECT min(id) FROM ${counter?.table} WHERE ${column} = $2)`,
      values: [number, id],
    });
  const counted = async (): Promise<number> =>
    (await test.as.superuser.get(`${parents}/${id}/${list}/?page_size=1`).expect(200)).body.count;
  expect([id > 0, await counted()]).toEqual([true, total]);
  // A wrong total appears in the list only if the list uses the total instead of a count.
  await add(1000);
  expect(await counted()).toBe(total + 1000);
  await add(-1000);
});

it('totals are counted in full for filters without stored totals', async () => {
  const { body } = await test.as.superuser.get('job_events/?event=verbose').expect(200);
  expect(body.count).toBe(
    await number(sql`SELECT count(*) FROM job_events WHERE event = 'verbose'`),
  );
  const run = await test.as.superuser.get(`job_events/?job=${job.id}`).expect(200);
  expect(run.body.count).toBe(
    await number(sql`SELECT count(*) FROM job_events WHERE job_id = ${job.id}`),
  );
});
