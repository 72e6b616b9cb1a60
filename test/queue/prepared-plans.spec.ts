/**
 * Prepared statements are planned once: PostgreSQL keeps a generic plan that is no more expensive than a new
 * one.
 */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

it('plans of detail views are cached', async () => {
  const host = await test.make.host(await test.make.inventory());
  const template = await test.make.jobTemplate();
  for (const url of [`hosts/${host.id}/`, `job_templates/${template.id}/`]) {
    for (let asked = 0; asked < 13; asked++) await test.as.superuser.get(url).expect(200);
  }
  // One connection served all requests. PostgreSQL plans the first executions of a statement for their
  // values.
  const often = await test.database.rows<{ statement: string; isKept: boolean }>(sql`
    SELECT statement, generic_plans > 0 AS "isKept" FROM pg_prepared_statements
    WHERE generic_plans + custom_plans >= 12 AND statement NOT LIKE '%INSERT%'`);
  // One statement for the token, and two per object: its row, and its data from other tables.
  expect(often).toHaveLength(5);
  expect(often.filter(({ isKept }) => !isKept)).toEqual([]);
});
