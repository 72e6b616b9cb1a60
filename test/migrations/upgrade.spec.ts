/**
 * Upgrades a database of the version before, which has a row in every table, under an API of this version.
 *
 * Budget: 40 s, because it makes an object of each type and reads every object and list.
 */
import { migrate } from '../../src/cli/migrate.js';
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { raw, sql } from '../../src/database/sql.js';
import { boot, withSettingsOf, type TestApp } from '../support/boot.js';
import { Samples, sampleTypes } from '../support/samples.js';

/** The last migration of the version before. */
const BEFORE = 'IndexStepsOfJobs1795801206800';
const KINDS = ['list', 'retrieve'];

type Rows = Record<string, Record<string, unknown>[]>;

let test: TestApp;
let samples: Samples;
/** Rows and readiness immediately before and after the upgrade. */
let before: Rows;
let after: Rows;
let readyBefore: unknown;
beforeAll(async () => {
  test = await boot({ own: true });
  samples = new Samples(test);
  for (const type of sampleTypes()) await samples.of(type);
  await samples.linkAll();
  const { dataSource } = test.database;
  for (;;) {
    const last = await test.database.row<{ name: string }>(
      sql`SELECT name FROM migrations ORDER BY id DESC LIMIT 1`,
    );
    if (last?.name === BEFORE) break;
    await dataSource.undoLastMigration();
  }
  await fillEmptyTables();
  const running = sql`UPDATE unified_jobs SET status = 'running', lease_until = now() WHERE type = 'job'`;
  expect(await test.database.execute(running)).toBeGreaterThan(0);
  const due = sql`UPDATE notifications SET status = 'pending', next_attempt_at = now()`;
  expect(await test.database.execute(due)).toBeGreaterThan(0);
  before = await allRows();
  readyBefore = await readiness();
  await withSettingsOf(test, {}, () => migrate());
  after = await allRows();
});
afterAll(() => test.close());

/** Returns all rows by table, in the order of their texts. */
async function allRows(): Promise<Rows> {
  const tables = await test.database.rows<{ name: string }>(sql`
    SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
      AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migrations'`);
  const found: Rows = {};
  for (const { name } of tables) {
    const rows = await test.database.rows<{ row: Record<string, unknown> }>(
      sql`SELECT to_jsonb(t) AS row FROM ${raw(name)} t ORDER BY t::text`,
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

/** Adds one row to each empty table, with the least that its columns need. */
async function fillEmptyTables(): Promise<void> {
  for (const [name, rows] of Object.entries(await allRows())) {
    if (rows.length > 0) continue;
    const columns = await test.database.rows<{ column: string; value: string }>(sql`
      SELECT quote_ident(near.attname) AS column, coalesce(
        (SELECT format('(SELECT %I FROM %s LIMIT 1)', far.attname, confrelid::regclass)
          FROM pg_attribute far WHERE far.attrelid = confrelid AND far.attnum = confkey[1]),
        CASE typcategory WHEN 'S' THEN '''x''' WHEN 'N' THEN '1' WHEN 'D' THEN 'now()'
          WHEN 'B' THEN 'false'
          ELSE CASE typname WHEN 'uuid' THEN 'gen_random_uuid()' ELSE '''{}''' END END) AS value
      FROM pg_attribute near JOIN pg_type ON pg_type.oid = atttypid
      LEFT JOIN pg_constraint ON conrelid = attrelid AND contype = 'f' AND conkey = ARRAY[near.attnum]
      WHERE attrelid = ${name}::regclass AND attnum > 0 AND attnotnull AND NOT atthasdef
        AND attidentity = '' AND NOT attisdropped`);
    const names = columns.map(({ column }) => column).join();
    const values = columns.map(({ value }) => value).join();
    await test.database.execute(sql`INSERT INTO ${raw(`${name} (${names}) VALUES (${values})`)}`);
  }
}

const readiness = async (): Promise<unknown> => {
  const response = await fetch(`${test.url}/health/ready`);
  return [response.status, await response.json()];
};

it('an upgrade keeps every row, including active runs, and the API becomes ready', async () => {
  expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);
  expect(after).toMatchObject(before);
  const state = { database: true, redis: true };
  expect(readyBefore).toEqual([503, { ...state, ready: false, schema: false }]);
  expect(await readiness()).toEqual([200, { ...state, ready: true, schema: true }]);
});

it('an upgrade keeps every list and every object readable', async () => {
  const refused: string[] = [];
  for (const route of test.app.get(RouteTable, { strict: false }).routes) {
    if (!KINDS.includes(route.info?.kind ?? '')) continue;
    const path = await samples.pathOf(route);
    const { status } = await test.as.superuser.get(path);
    if (status !== 200) refused.push(`${path} ${status}`);
  }
  expect(refused).toEqual([]);
});
