/**
 * The number of statements of a list page does not depend on its rows: one for the caller, one for the rows
 * with their total, and those for related objects (docs/decisions/0073-indexes.md).
 */
import { RoleStore } from '../../src/common/access.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries, samePageQueries } from '../support/queries.js';
import { multiply } from '../support/multiply.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
let inventory: number;
beforeAll(async () => {
  test = await boot();
  const samples = new Samples(test);
  const roles = test.app.get(RoleStore, { strict: false });
  for (const type of ['host', 'team', 'job_template', 'job', 'job_event']) {
    await multiply(test.database, roles, type, await samples.of(type), 30);
  }
  inventory = (await samples.of('inventory')).id;
  // The first request of each minute records the use of its token, which is not part of the list.
  await test.database.execute(sql`UPDATE tokens SET last_used = now() + interval '1 hour'`);
}, 60_000);
afterAll(() => test.close());

it.each([
  ['hosts/', 3],
  ['hosts/?inventory=INVENTORY', 3],
  ['hosts/?inventory__in=INVENTORY&order_by=-created', 3],
  ['hosts/?count_disabled=1&order_by=-name', 3],
  ['hosts/?name__contains=o', 3],
  ['hosts/?search=o', 3],
  ['hosts/?inventory__id__gt=0', 3],
  // The inventory itself is a statement more.
  ['inventories/INVENTORY/hosts/', 4],
  ['inventories/INVENTORY/hosts/?order_by=id', 4],
  ['teams/', 3],
  ['teams/?order_by=-id', 3],
  ['job_templates/', 3],
  ['job_templates/?organization__isnull=false', 3],
  ['jobs/', 3],
  ['jobs/?status=successful&order_by=-finished', 3],
  ['job_events/', 3],
  // The rows of each kind are a statement more.
  ['unified_jobs/?type=job', 4],
])('reads %s with %d statements', async (list, most) => {
  const path = list.replace('INVENTORY', String(inventory));
  const client = test.as.superuser;
  await samePageQueries(test.database, client, path, [1, 25]);
  expect(await countQueries(test.database, () => client.get(path).expect(200))).toBe(most);
});

it.each([['hosts'], ['teams'], ['job_templates']])(
  'reads one of %s with three statements',
  async (path) => {
    const client = test.as.superuser;
    const { body } = await client.get(`${path}/?page_size=1`).expect(200);
    const one = `${path}/${body.results[0].id}/`;
    expect(await countQueries(test.database, () => client.get(one).expect(200))).toBe(3);
  },
);
