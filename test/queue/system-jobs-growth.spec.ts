/**
 * Budget: 20 s, because it inserts and removes some thousand runs. In deep tests 1,000,000 runs with 10
 * events each, which takes half an hour.
 *
 * A cleanup of a large installation does not disturb its users: lists stay fast, locks are short, and the
 * totals stay exact, also if the cleanup is canceled.
 */
import type { INestApplicationContext } from '@nestjs/common';

import { sql } from '../../src/database/sql.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';

const RUNS = IS_DEEP ? 1_000_000 : 4000;
const BATCH = 4000;
const EVENTS = 10;
const LIMIT_MS = IS_DEEP ? 3_600_000 : 60_000;
/** Number of list requests for a median. */
const LISTS = IS_DEEP ? 100 : 20;

let test: TestApp;
let worker: INestApplicationContext;
let template: string;

beforeAll(async () => {
  test = await boot();
  worker = await bootWorker(test);
  const { body } = await test.as.superuser.get('system_job_templates/?job_type=cleanup_jobs');
  template = body.results[0].url;
  for (let from = 0; from < RUNS; from += BATCH) {
    await test.database.execute(sql`
      WITH run AS (
        INSERT INTO unified_jobs (name, type, status, created, finished)
        SELECT 'run ' || n, 'job', 'successful', at, at
        FROM (SELECT n, now() - make_interval(days => 1 + 99 * (n % 2), secs => n / 1000.0) AS at
          FROM generate_series(${from}::int, ${from + BATCH - 1}::int) n) numbered
        RETURNING id)
      INSERT INTO job_events (job_id, counter, event, uuid)
      SELECT id, n, 'verbose', '' FROM run, generate_series(1, ${EVENTS}::int) n`);
  }
  await test.database.execute(sql`ANALYZE`);
}, LIMIT_MS);
afterAll(async () => {
  await worker.close();
  await test.close();
});

async function launch(extra_vars: object): Promise<string> {
  const { body } = await test.as.superuser.post(`${template}launch/`, { extra_vars }).expect(201);
  return body.url;
}

async function outputOf(url: string): Promise<string[]> {
  await eventually(
    async () => expect((await test.as.superuser.get(url)).body.status).toBe('successful'),
    LIMIT_MS,
  );
  const { text } = await test.as.superuser.get(`${url}stdout/?format=txt`).expect(200);
  return text.trim().split('\n');
}

/** Returns the time of the list of the newest jobs, in ms. */
async function listed(): Promise<number> {
  const started = performance.now();
  await test.as.superuser.get('jobs/?order_by=-id').expect(200);
  return performance.now() - started;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

async function medianOfLists(): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < LISTS; turn += 1) times.push(await listed());
  return median(times);
}

/**
 * Writes to the tables as every run does.
 * @throws if a statement waits for a lock for 50 ms
 */
const launchAndStore = (): Promise<void> =>
  test.database.transaction(async () => {
    await test.database.execute(sql`SET LOCAL lock_timeout = '50ms'`);
    await test.database.execute(sql`
      WITH run AS (
        INSERT INTO unified_jobs (name, type, status, finished)
        VALUES ('beside', 'job', 'successful', now()) RETURNING id)
      INSERT INTO job_events (job_id, counter, event, uuid) SELECT id, 1, 'verbose', '' FROM run`);
    await test.database.execute(sql`
      UPDATE unified_jobs SET job_explanation = '' WHERE id = (
        SELECT id FROM unified_jobs WHERE type = 'job' ORDER BY id DESC LIMIT 1)`);
  });

const oldRuns = async (): Promise<number> =>
  (
    await test.database.row<{ old: number }>(sql`
      SELECT count(*)::int AS old FROM unified_jobs WHERE created < now() - interval '30 days'`)
  )?.old ?? NaN;

const left = async (): Promise<unknown> =>
  test.database.row(sql`
    SELECT (SELECT sum(total)::int FROM run_totals) - count(*)::int AS runs,
      (SELECT sum(event_total)::int FROM run_totals) - (SELECT count(*)::int FROM job_events) AS events,
      count(*) FILTER (WHERE created < now() - interval '30 days')::int AS old
    FROM unified_jobs`);

it(
  'a cleanup keeps lists fast, locks short and totals exact, and removes what it announced',
  async () => {
    const usual = await medianOfLists();
    const announced = await outputOf(await launch({ days: 30, dry_run: true }));
    expect(announced.at(-1)).toContain(`${(RUNS / 2).toLocaleString('en')} jobs`);

    const first = await launch({ days: 30 });
    // The cleanup counts before it removes rows.
    await eventually(async () => expect(await oldRuns()).toBeLessThan(RUNS / 2), LIMIT_MS);
    const during: number[] = [];
    for (let turn = 0; turn < LISTS; turn += 1) {
      await launchAndStore();
      during.push(await listed());
    }
    await test.as.superuser.post(`${first}cancel/`, {});
    await eventually(
      async () => expect((await test.as.superuser.get(first)).body.finished).not.toBeNull(),
      LIMIT_MS,
    );
    const canceled = (await left()) as { old: number };
    expect(canceled).toMatchObject({ runs: 0, events: 0 });

    const counted = canceled.old.toLocaleString('en');
    const output = await outputOf(await launch({ days: 30 }));
    if (canceled.old > 0) {
      expect(output).toContain(`Deleted ${counted} of ${counted} jobs`);
    }
    expect(await left()).toEqual({ runs: 0, events: 0, old: 0 });
    const { body } = await test.as.superuser.get('jobs/?page_size=1').expect(200);
    expect(body.count).toBe(RUNS / 2 + LISTS);
    const figures = { usual, during: median(during), canceledAt: canceled.old };
    if (!IS_DEEP) return;
    expect(canceled.old).toBeGreaterThan(0);
    process.stdout.write(`${JSON.stringify(figures)}\n`);
    expect(median(during)).toBeLessThan(2 * usual);
  },
  LIMIT_MS,
);
