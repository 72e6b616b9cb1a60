/**
 * A search looks up the last long number of its term in an index, and returns the rows that contain the whole
 * term (docs/decisions/0117-search.md).
 */
import { RoleStore } from '../../src/common/access.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { multiply } from '../support/multiply.js';
import { Samples } from '../support/samples.js';

const ROWS = 1500;

let test: TestApp;
beforeAll(async () => {
  test = await boot();
  const roles = test.app.get(RoleStore, { strict: false });
  const host = await new Samples(test).of('host');
  await multiply(test.database, roles, 'host', host, ROWS);
  await test.database.execute(sql`
    UPDATE hosts SET name = 'web-' || lpad(id::text, 6, '0') || '.Prod_Ü.example.com',
      description = CASE WHEN id % 3 = 0 THEN 'Rack ' || id % 7 || ' of web servers' ELSE '' END`);
  await test.database.execute(sql`
    UPDATE hosts SET name = 'db-100%_of-web' WHERE id = (SELECT max(id) FROM hosts)`);
});
afterAll(() => test.close());

const TERMS = [
  ...[
    'web-000421',
    'WEB-000421.prod',
    '0421',
    '.prod_ü.',
    'PROD_Ü',
    'web',
    'web-',
    'db-100%_of-web',
  ],
  ...[
    '100%',
    '_of',
    'rack 3',
    'of web',
    'servers',
    'nothing-like-it',
    'web-0004_1',
    'eb',
    '7',
    'm',
  ],
];

it.each(TERMS)('%s', async (term) => {
  const expected = await test.database.rows<Row>(sql`
    SELECT id FROM hosts WHERE strpos(lower(name), lower(${term})) > 0
      OR strpos(lower(description), lower(${term})) > 0`);
  const named = await test.database.rows<Row>(sql`
    SELECT id FROM hosts WHERE strpos(lower(name), lower(${term})) > 0 ORDER BY id LIMIT 200`);
  // A search splits its text at spaces and looks for each word separately.
  if (!term.includes(' ')) {
    const { body } = await test.as.superuser
      .get(`hosts/?search=${encodeURIComponent(term)}`)
      .expect(200);
    expect(body.count).toBe(expected.length);
  }
  const { body } = await test.as.superuser
    .get(`hosts/?name__icontains=${encodeURIComponent(term)}&order_by=id&page_size=200`)
    .expect(200);
  expect(body.results.map(({ id }: Row) => id)).toEqual(named.map(({ id }) => id));
});

it('a search for a number uses an index', async () => {
  const run = jest.spyOn(test.database, 'run');
  await test.as.superuser.get('hosts/?search=web-000421').expect(200);
  const values = run.mock.calls.flatMap(([statement]) =>
    'toQuery' in statement ? statement.toQuery().values : (statement.values ?? []),
  );
  run.mockRestore();
  expect(values).toContain('%web-000421%');
  expect(values).toContain('%000421%');
});
