/** The migration to partitions and its reversion keep existing events unchanged. */
import { DataSource } from 'typeorm';

import {
  createEmptyDatabase,
  openDataSource,
  type TestDatabase,
} from '../support/test-database.js';

const PARTITIONED = 'PartitionEvents1795540000000';

let database: TestDatabase;
let source: DataSource;
beforeEach(async () => {
  database = await createEmptyDatabase();
  source = await openDataSource(database.url);
  await source.runMigrations();
});
afterEach(async () => {
  await source.destroy();
  await database.drop();
});

const rows = (text: string): Promise<Record<string, unknown>[]> => source.query(text);

/** Reverts the migration of the partitions and all later migrations. */
async function undo(): Promise<void> {
  for (let last = ''; last !== PARTITIONED; await source.undoLastMigration()) {
    const [row] = await rows('SELECT name FROM migrations ORDER BY id DESC LIMIT 1');
    last = String(row?.name);
  }
}

const store = (counter: number): Promise<unknown> =>
  rows(`INSERT INTO job_events (job_id, counter, event_data)
    SELECT id, ${counter}, '{"a": 1}' FROM unified_jobs ORDER BY id`);

const KEPT = `SELECT id::integer, job_id::integer, counter, event_data::text FROM job_events ORDER BY id`;
const TOTALS = 'SELECT id::integer, event_total FROM unified_jobs ORDER BY id';

it('events move to partitions with their ids, totals, and the next ids', async () => {
  await rows(`INSERT INTO unified_jobs (type, name, status, launch_type)
    SELECT 'job', 'run', 'successful', 'manual' FROM generate_series(1, 3)`);
  await store(1);
  await store(2);
  const before = [await rows(KEPT), await rows(TOTALS)];
  await undo();
  expect([await rows(KEPT), await rows(TOTALS)]).toEqual(before);
  await source.runMigrations();
  await undo();
  await source.runMigrations();
  expect([await rows(KEPT), await rows(TOTALS)]).toEqual(before);
  const parts = await rows('SELECT DISTINCT tableoid::regclass::text AS part FROM job_events');
  expect(parts).toEqual([{ part: 'job_events_from_0' }]);
  await store(3);
  const [counted] = await rows('SELECT count(*), count(DISTINCT id) AS ids FROM job_events');
  expect(counted).toEqual({ count: 9, ids: 9 });
  expect((await rows(TOTALS)).map(({ event_total }) => event_total)).toEqual([3, 3, 3]);
});
