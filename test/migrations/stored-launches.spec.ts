/** Launch fields of rows that another version stored. */
import type { DataSource, QueryRunner } from 'typeorm';

import { migrations } from '../../migrations/index.js';
import { createTestDatabase, openDataSource, type TestDatabase } from '../support/test-database.js';

type Stored = { inventory_id: number | null; job_type: string; version: string };

let database: TestDatabase;
let source: DataSource;
let runner: QueryRunner;
beforeAll(async () => {
  database = await createTestDatabase();
  source = await openDataSource(database.url);
  runner = source.createQueryRunner();
});
afterAll(async () => {
  await runner.release();
  await source.destroy();
  await database.drop();
});

const stored = async (name: string): Promise<Stored> => {
  const [row] = (await runner.query(
    `SELECT inventory_id, job_type, xmin::text AS version FROM unified_job_templates WHERE name = $1`,
    [name],
  )) as [Stored];
  return row;
};

it('a job template without a job type gets the type that its runs had', async () => {
  await runner.query(`INSERT INTO unified_job_templates (type, name, job_type)
    VALUES ('job_template', 'empty', ''), ('job_template', 'check', 'check')`);
  await new migrations.ReplaceEmptyJobTypes1795927000000().up(runner);
  expect((await stored('empty')).job_type).toBe('run');
  expect((await stored('check')).job_type).toBe('check');
});

it('foreign keys of inventories return without changes of rows that have no inventory', async () => {
  await runner.query(`INSERT INTO unified_job_templates (type, name, inventory_id)
    VALUES ('workflow_job_template', 'gone', 7), ('workflow_job_template', 'none', NULL)`);
  const { version } = await stored('none');
  const migration = new migrations.KeepDeletedInventories1795926000000();
  await migration.down(runner);
  expect(await stored('gone')).toMatchObject({ inventory_id: null });
  expect(await stored('none')).toMatchObject({ version });
  await migration.up(runner);
});
