/**
 * Prepared statements are planned once: PostgreSQL keeps a generic plan that is no more expensive than a new
 * one.
 */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

const CONNECTIONS = 2;
const EXECUTIONS = 12;

let test: TestApp;
beforeAll(async () => {
  test = await boot({ settings: { DATABASE_POOL_SIZE: String(CONNECTIONS) } });
});
afterAll(() => test.close());

it('plans of detail views are cached', async () => {
  const host = await test.make.host(await test.make.inventory());
  const template = await test.make.jobTemplate();
  for (const url of [`hosts/${host.id}/`, `job_templates/${template.id}/`]) {
    for (let asked = 0; asked < CONNECTIONS * EXECUTIONS; asked++) {
      await test.as.superuser.get(url).expect(200);
    }
  }
  // One of the connections executed each statement often enough: PostgreSQL plans the first executions of a
  // statement for their values. Simultaneous queries use different connections.
  const often = sql`
    SELECT statement, generic_plans > 0 AS "isKept" FROM pg_prepared_statements
    WHERE generic_plans + custom_plans >= ${EXECUTIONS} AND statement NOT LIKE '%INSERT%'`;
  const found = await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      test.database.rows<{ statement: string; isKept: boolean }>(often),
    ),
  );
  const kept = new Map(found.flat().map(({ statement, isKept }) => [statement, isKept]));
  // One statement for the token, and two per object: its row, and its data from other tables.
  expect(kept.size).toBe(5);
  expect([...kept].filter(([, isKept]) => !isKept)).toEqual([]);
});
