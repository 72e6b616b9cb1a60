/**
 * Partitions of events (docs/decisions/0118-event-partitions.md) exist before they are needed, even if the
 * process that creates one is killed. Events without a partition are stored all the same, and totals stay
 * exact when partitions are dropped.
 */
import pg from 'pg';

import { EventPartitionsRepository } from '../../src/runs/events/event-partitions.repository.js';
import {
  JobEventsRepository,
  type StoredEvent,
} from '../../src/runs/events/job-events.repository.js';
import { sql } from '../../src/database/sql.js';
import { eventually } from '../support/eventually.js';
import { RunsDatabase, type RunFields } from './runs-database.js';
import { JobEvent } from '../../src/runs/events/job-event.entity.js';

const DAYS = 30;
const LEAST = 1000;

let runs: RunsDatabase;
let partitions: EventPartitionsRepository;
let events: JobEventsRepository;
beforeEach(async () => {
  runs = await RunsDatabase.open();
  partitions = new EventPartitionsRepository(runs.database.manager.getRepository(JobEvent));
  events = new JobEventsRepository(runs.database.manager.getRepository(JobEvent));
});
afterEach(() => runs.close());

interface Range {
  part: string;
  lower: number;
  upper: number;
}

const ranges = (): Promise<Range[]> =>
  runs.database.rows<Range>(sql`
    SELECT part::text, lower, upper FROM job_event_ranges() ORDER BY lower`);

async function lastRange(): Promise<Range> {
  const last = (await ranges()).at(-1);
  if (!last) throw new Error('There is no range');
  return last;
}

const job = (id: number, fields: RunFields = {}): Promise<number> =>
  runs.job(null, { id, ...fields });

/** Creates a run that ended some days ago, with events. */
async function ended(id: number, daysAgo: number, count: number): Promise<void> {
  await job(id, { status: 'successful' });
  await runs.database.execute(sql`
    UPDATE unified_jobs SET finished = now() - make_interval(days => ${daysAgo}::int)
    WHERE id = ${id}`);
  await runs.database.execute(sql`
    INSERT INTO job_events (job_id, counter) SELECT ${id}::bigint, generate_series(1, ${count}::int)`);
}

/** Returns the partitions that contain events of the run, with their counts. */
const where = (id: number): Promise<{ part: string; count: number }[]> =>
  runs.database.rows(sql`
    SELECT tableoid::regclass::text AS part, count(*) FROM job_events
    WHERE job_id = ${id} GROUP BY 1`);

/** Asserts that the totals of all runs, and their sum, equal the number of stored events. */
async function expectTotals(): Promise<void> {
  const wrong = await runs.database.rows(sql`
    SELECT id, event_total FROM unified_jobs run
    WHERE event_total <> (SELECT count(*) FROM job_events WHERE job_id = run.id)`);
  const sums = await runs.database.row<{ kept: number; stored: number }>(sql`
    SELECT (SELECT coalesce(sum(event_total), 0)::bigint FROM run_totals) AS kept,
      (SELECT count(*) FROM job_events) AS stored`);
  expect(wrong).toEqual([]);
  expect(sums?.kept).toBe(sums?.stored);
}

/** Runs `work` on a connection that by default waits for locks without a timeout. */
async function patiently<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: runs.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const isWaiting = (statement: string): Promise<void> =>
  eventually(async () => {
    const waiting = await runs.database.rows(sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND query LIKE ${`%${statement}%`}`);
    expect(waiting).toHaveLength(1);
  });

const event = (counter: number): StoredEvent => ({
  ...{ uuid: `u${counter}`, parentUuid: '', counter, event: 'verbose', eventDisplay: '' },
  ...{ eventLevel: 0, failed: false, changed: false, hostName: '', playbook: '', play: '' },
  ...{ task: '', role: '', stdout: '', startLine: 0, endLine: 1, verbosity: 0, eventData: {} },
  ...{ created: '2026-01-01T00:00:00Z', dataText: '{}' },
});

describe('a partition for a range of runs', () => {
  it('is added after the first run of the last partition, and follows it', async () => {
    const before = await lastRange();
    await job(before.lower || 1);
    expect(await partitions.extendAhead(DAYS)).toBe(true);
    const after = await lastRange();
    expect(after).toMatchObject({ lower: before.upper, upper: before.upper + LEAST });
    expect(await partitions.extendAhead(DAYS)).toBe(false);
    await job(after.upper - 1);
    expect(await partitions.extendAhead(DAYS)).toBe(true);
  });

  it('has a size for the recent rate of runs', async () => {
    const { upper } = await lastRange();
    await job(upper - 4200, { created: '2020-01-01' });
    await job(upper - 4000);
    await job(upper - 1);
    await partitions.extendAhead(DAYS);
    expect(await lastRange()).toMatchObject({ lower: upper, upper: upper + 4000 });
  });

  it('starts after all runs if these are ahead, and their events are stored anyway', async () => {
    const { upper } = await lastRange();
    await ended(upper + 70_000, 1, 3);
    expect(await where(upper + 70_000)).toEqual([{ part: 'job_events_rest', count: 3 }]);
    await partitions.extendAhead(DAYS);
    expect(await lastRange()).toMatchObject({ lower: upper + 70_001 });
    expect(await partitions.extendAhead(DAYS)).toBe(false);
    await ended(upper + 70_001, 1, 2);
    expect(await where(upper + 70_001)).toEqual([
      { part: `job_events_from_${upper + 70_001}`, count: 2 },
    ]);
    await expectTotals();
  });

  it('is added once by two simultaneous workers', async () => {
    await job((await lastRange()).upper - 1);
    const before = await ranges();
    const done = await Promise.all([partitions.extendAhead(DAYS), partitions.extendAhead(DAYS)]);
    expect(done.filter(Boolean)).toHaveLength(1);
    expect(await ranges()).toHaveLength(before.length + 1);
  });

  it('is added completely or not at all if the worker is terminated', async () => {
    await job((await lastRange()).upper - 1);
    const before = await ranges();
    const client = new pg.Client({ connectionString: runs.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('BEGIN');
    const { rows } = await client.query<{ done: boolean; pid: number }>(
      `SELECT extend_job_events(${DAYS}) AS done, pg_backend_pid() AS pid`,
    );
    expect(rows[0]?.done).toBe(true);
    await runs.database.execute(sql`SELECT pg_terminate_backend(${rows[0]?.pid ?? 0})`);
    await expect(client.query('COMMIT')).rejects.toThrow();
    await client.end();
    expect(await ranges()).toEqual(before);
    expect(await partitions.extendAhead(DAYS)).toBe(true);
  });

  it('is not added while runs are written, but later', async () => {
    await job((await lastRange()).upper - 1);
    await runs.database.transaction(async () => {
      await runs.database.execute(sql`UPDATE unified_jobs SET description = 'busy'`);
      const adding = patiently((client) => client.query(`SELECT extend_job_events(${DAYS})`));
      await expect(adding).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await partitions.extendAhead(DAYS)).toBe(true);
  });

  it('does not block the creation of runs while it waits for writers of events', async () => {
    const { upper } = await lastRange();
    await job(upper + 5);
    const ends: string[] = [];
    await patiently(async (storing) => {
      await storing.query('BEGIN');
      await storing.query('INSERT INTO job_events (job_id, counter) VALUES ($1, 1)', [upper + 5]);
      const adding = partitions.extendAhead(DAYS).catch((error: unknown) => error);
      const added = adding.then(() => ends.push('added'));
      await isWaiting('extend_job_events');
      await job(upper + 6);
      ends.push('written');
      await added;
    });
    expect(ends).toEqual(['written', 'added']);
  });

  it('is added while runs store events, without loss or repetition', async () => {
    const { upper } = await lastRange();
    const ids = [upper - 1, upper, upper + 1];
    for (const id of ids) await job(id, { status: 'running', attempt: 1 });
    const store = async (id: number): Promise<void> => {
      for (let batch = 0; batch < 30; batch++) {
        const some = [1, 2, 3].map((n) => event(batch * 3 + n));
        expect(await events.store({ id, attempt: 1 }, some)).toBe(true);
        await events.store({ id, attempt: 1 }, some);
      }
    };
    const storing = Promise.all(ids.map(store));
    let added = 0;
    for (let turn = 0; turn < 5; turn++) {
      await job((await lastRange()).lower + LEAST / 2 + turn);
      added += Number(await partitions.extendAhead(DAYS).catch(() => false));
    }
    await storing;
    expect(added).toBeGreaterThan(0);
    for (const id of ids) {
      const parts = await where(id);
      expect(parts.map(({ count }) => count)).toEqual([90]);
    }
    await expectTotals();
  });
});

/** Creates three ranges with ended runs, and one that is in use. */
async function threeRanges(daysAgo: readonly number[]): Promise<Range[]> {
  for (const days of daysAgo) {
    const { lower } = await lastRange();
    await ended(lower + 10, days, 5);
    await ended(lower + 11, days, 7);
    await partitions.extendAhead(DAYS);
  }
  const all = await ranges();
  await ended((await lastRange()).lower + 1, 0, 1);
  return all;
}

describe('old events', () => {
  it('are dropped with whole partitions or deleted, and totals stay exact', async () => {
    const all = await threeRanges([100, 95, 91]);
    const [, middle] = all;
    await ended((middle?.lower ?? 0) + 20, 1, 4);
    expect([await partitions.dropOld(90), await partitions.dropOld(90)]).toEqual([12, 12]);
    expect(await partitions.dropOld(90)).toBeNull();
    expect((await ranges()).map(({ part }) => part)).toEqual([all[1]?.part, all[3]?.part]);
    await expectTotals();
    expect([await events.removeOld(90, 10), await events.removeOld(90, 10)]).toEqual([10, 2]);
    expect(await events.removeOld(90, 10)).toBe(0);
    expect(await where((middle?.lower ?? 0) + 20)).toEqual([{ part: middle?.part, count: 4 }]);
    await expectTotals();
  });

  it.each([
    ['has not ended', { finished: null }],
    ['ended lately', { finished: new Date().toISOString() }],
  ])('stay in the partition of a run that %s', async (_which, fields) => {
    const [first] = await threeRanges([100]);
    await job((first?.upper ?? 0) - 1, fields);
    expect(await partitions.dropOld(90)).toBeNull();
    expect(await where((first?.lower ?? 0) + 10)).toHaveLength(1);
  });

  it('stay in the partition for new runs', async () => {
    await ended((await lastRange()).lower + 10, 100, 5);
    expect(await partitions.dropOld(90)).toBeNull();
    expect(await events.removeOld(90, 10)).toBe(5);
    await expectTotals();
  });

  it('are deleted with their run, in any partition', async () => {
    const [first, second] = await threeRanges([3, 2]);
    for (const range of [first, second]) {
      const id = (range?.lower ?? 0) + 10;
      await runs.database.execute(sql`DELETE FROM unified_jobs WHERE id = ${id}`);
      expect(await where(id)).toEqual([]);
    }
    await expectTotals();
    expect(await where((first?.lower ?? 0) + 11)).toHaveLength(1);
  });

  it('are dropped once by two simultaneous workers', async () => {
    await threeRanges([100, 95]);
    const drop = (client: pg.Client): Promise<number | null> =>
      client
        .query<{ removed: number | null }>('SELECT drop_old_job_events(90) AS removed')
        .then(({ rows: [row] }) => row?.removed ?? null);
    const dropped = await Promise.all([patiently(drop), patiently(drop), patiently(drop)]);
    expect(dropped.sort()).toEqual([12, 12, null]);
    await expectTotals();
  });

  it('stay if an event is stored for a run without events at the same time', async () => {
    const [first] = await threeRanges([100]);
    const late = (first?.lower ?? 0) + 20;
    await ended(late, 100, 0);
    const outcome = await patiently(async (reader) => {
      await reader.query('BEGIN; SELECT count(*) FROM job_events');
      const dropping = partitions.dropOld(90).catch((error: unknown) => error);
      await isWaiting('drop_old_job_events');
      await runs.database.execute(
        sql`INSERT INTO job_events (job_id, counter) VALUES (${late}, 1)`,
      );
      await reader.query('COMMIT');
      return dropping;
    });
    expect(outcome).toMatchObject({ code: '40001' });
    expect(await where(late)).toHaveLength(1);
    await expectTotals();
    expect(await partitions.dropOld(90)).toBe(13);
  });

  it('stay for a later cleanup if a backup reads them all the time', async () => {
    const [first] = await threeRanges([100]);
    const dropped = await patiently(async (backup) => {
      await backup.query('BEGIN; SELECT count(*) FROM job_events');
      return runs.database.transaction(async () => {
        await runs.database.execute(sql`SET LOCAL statement_timeout = '700ms'`);
        return partitions.dropOld(90);
      });
    });
    expect(dropped).toBeNull();
    expect(await where((first?.lower ?? 0) + 10)).toHaveLength(1);
    expect(await partitions.dropOld(90)).toBe(12);
  });

  it('are dropped as soon as no transaction reads them', async () => {
    await threeRanges([100]);
    const reading = runs.database.transaction(async () => {
      await runs.database.rows(sql`SELECT count(*) FROM job_events`);
      await new Promise((resolve) => setTimeout(resolve, 1500));
    });
    expect(await partitions.dropOld(90)).toBe(12);
    await reading;
    await expectTotals();
  });
});

it('PostgreSQL analyzes all partitions once a day', async () => {
  expect([await partitions.analyze(), await partitions.analyze()]).toEqual([true, false]);
});
