/** Rows of statements, prepared by name or not: every kind of value, errors, and tables that a migration changed. */
import { Database } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let database: Database;
beforeAll(async () => {
  test = await boot();
  ({ database } = test);
});
afterAll(() => test.close());

const everyKind = (texts: readonly (string | null)[]) => sql`
  SELECT 7 AS number, 1.5::float8 AS part, 12::bigint AS big, true AS is, NULL::int AS nothing,
    ''::text AS empty, '{"a": [1, null]}'::jsonb AS json, '2026-01-02 03:04:05.000006+00'::timestamptz AS instant,
    ${texts}::text[] AS texts, 'a' AS "odd ""name"`;

const TEXTS = ['a', '', 'NULL', '"\\{,}', null, 'two\nlines'];
const FOUND = {
  ...{ number: 7, part: 1.5, big: 12, is: true, nothing: null, empty: '' },
  ...{ json: { a: [1, null] }, instant: '2026-01-02T03:04:05.000006Z', texts: TEXTS },
  'odd "name': 'a',
};

it('a statement returns the same rows when repeated, prepared or not', async () => {
  for (let asked = 0; asked < 3; asked++) {
    expect(await database.preparedRows(everyKind(TEXTS))).toEqual([FOUND]);
    expect(await database.rows(everyKind(TEXTS))).toEqual([FOUND]);
  }
});

it('the last of two columns with the same name is used, even if null', async () => {
  const twice = sql`SELECT 1 AS id, NULL::int AS id, ${[1]}::int[] AS list`;
  for (let asked = 0; asked < 2; asked++) {
    expect(await database.preparedRows(twice)).toEqual([{ id: null, list: [1] }]);
  }
});

it('a statement without rows returns the number of changed rows', async () => {
  await database.transaction(async () => {
    await database.execute(sql`CREATE TEMPORARY TABLE counted (id int) ON COMMIT DROP`);
    const added = sql`INSERT INTO counted SELECT unnest(${[1, 2, 3]}::int[])`;
    for (let asked = 0; asked < 2; asked++) {
      expect(await database.preparedRows(added)).toEqual([]);
      expect(await database.execute(added)).toBe(3);
    }
  });
});

it('a statement reads the columns again after its table changed', async () => {
  await database.execute(sql`CREATE TABLE changing (id int, name text)`);
  await database.execute(sql`INSERT INTO changing VALUES (1, 'a')`);
  const all = sql`SELECT * FROM changing WHERE id = ANY(${[1]}::int[])`;
  for (let asked = 0; asked < 2; asked++) {
    expect(await database.preparedRows(all)).toEqual([{ id: 1, name: 'a' }]);
  }
  await database.execute(sql`ALTER TABLE changing ALTER name TYPE int USING 5, ADD more text`);
  for (let asked = 0; asked < 2; asked++) {
    expect(await database.preparedRows(all)).toEqual([{ id: 1, name: 5, more: null }]);
  }
  await database.execute(sql`DROP TABLE changing`);
});

it('an error of PostgreSQL is thrown, and later statements work', async () => {
  const divided = (by: number) => sql`SELECT 1 / ${by}::int AS result`;
  expect(await database.preparedRows(divided(1))).toEqual([{ result: 1 }]);
  await expect(database.preparedRows(divided(0))).rejects.toMatchObject({ code: '22012' });
  await expect(database.rows(sql`SELECT nowhere`)).rejects.toMatchObject({ code: '42703' });
  expect(await database.preparedRows(divided(1))).toEqual([{ result: 1 }]);
});
