/**
 * `max_hosts` of an organization counts host names: hosts of the same name in several inventories are one.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { sameQueries } from '../support/queries.js';

const MAX = 3;
const FULL =
  'You have already reached the maximum number of 3 hosts allowed for your organization. Contact your System Administrator for assistance.';

let test: TestApp;
let organization: Row;
let first: Row;
let second: Row;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

/** Creates two inventories with the hosts a and b, one name below the limit. */
beforeEach(async () => {
  organization = await test.make.organization({ max_hosts: MAX });
  first = await test.make.inventory({ organization: organization.id });
  second = await test.make.inventory({ organization: organization.id });
  for (const inventory of [first, second]) {
    for (const name of ['a', 'b']) await test.make.host(inventory, { name });
  }
});

const create = (inventory: Row, name: string) =>
  test.as.superuser.post('hosts/', { name, inventory: inventory.id });

const bulk = (inventory: Row, names: readonly string[], fields: object = {}) =>
  test.as.superuser.post('bulk/host_create/', {
    inventory: inventory.id,
    hosts: names.map((name) => ({ name })),
    ...fields,
  });

const lines = (inventory: Row, names: readonly string[], query = '') =>
  test.as.superuser
    .post(`bulk/host_create/?inventory=${inventory.id}${query}`)
    .set('Content-Type', 'application/x-ndjson')
    .send(names.map((name) => `${JSON.stringify({ name })}\n`).join(''));

const counted = async (): Promise<number> => {
  const { body } = await test.as.superuser.get(`organizations/${organization.id}/`).expect(200);
  return body.summary_fields.related_field_counts.hosts as number;
};

it('the limit applies to single hosts', async () => {
  await create(first, 'c').expect(201);
  await create(second, 'c').expect(201);
  expect((await create(second, 'd').expect(403)).body).toEqual({ detail: FULL });
  expect(await counted()).toBe(MAX);
});

it('the limit applies to a renamed host', async () => {
  await create(first, 'c').expect(201);
  const host = await test.make.host(second, { name: 'c' });
  const rename = (name: string) => test.as.superuser.patch(`hosts/${host.id}/`, { name });
  expect((await rename('d').expect(403)).body).toEqual({ detail: FULL });
  await test.as.superuser.patch(`hosts/${host.id}/`, { description: 'x' }).expect(200);
  await test.as.superuser.patch(`organizations/${organization.id}/`, { max_hosts: 4 }).expect(200);
  await rename('d').expect(200);
});

it('the limit applies to bulk host creation', async () => {
  expect((await bulk(first, ['c', 'd']).expect(403)).body).toEqual({ detail: FULL });
  await bulk(first, ['c']).expect(201);
  await bulk(second, ['c']).expect(201);
  expect((await bulk(second, ['d']).expect(403)).body).toEqual({ detail: FULL });
  await bulk(second, ['a', 'b', 'c'], { on_conflict: 'update' }).expect(201);
  expect((await bulk(second, ['a', 'd'], { on_conflict: 'update' }).expect(403)).body).toEqual({
    detail: FULL,
  });
});

it('the limit applies to hosts sent as lines', async () => {
  expect((await lines(first, ['c', 'd']).expect(403)).body).toEqual({ detail: FULL });
  await lines(first, ['c']).expect(201);
  const third = await test.make.inventory({ organization: organization.id });
  await lines(third, ['a', 'b', 'c']).expect(201);
  await lines(third, ['a', 'c'], '&on_conflict=update').expect(201);
  await lines(third, ['a', 'd'], '&on_conflict=update').expect(403);
  await lines(third, ['d'], '&dry_run=1').expect(403);
});

it('the limit applies to inventories that are moved or copied', async () => {
  const other = await test.make.organization();
  const move = (inventory: Row, to: Row) =>
    test.as.superuser.patch(`inventories/${inventory.id}/`, { organization: to.id });
  const outside = await test.make.inventory({ organization: other.id });
  for (const name of ['a', 'c', 'd']) await test.make.host(outside, { name });
  expect((await move(outside, organization).expect(403)).body).toEqual({ detail: FULL });
  const { body } = await test.as.superuser.get(`inventories/${outside.id}/`).expect(200);
  expect(body.organization).toBe(other.id);
  const fitting = await test.make.inventory({ organization: other.id });
  for (const name of ['a', 'c']) await test.make.host(fitting, { name });
  await move(fitting, organization).expect(200);
  expect(await counted()).toBe(MAX);
  await test.as.superuser.post(`inventories/${fitting.id}/copy/`, { name: 'Again' }).expect(201);
  expect(await counted()).toBe(MAX);
});

it('a limit below the current number refuses only additional names', async () => {
  await test.as.superuser.patch(`organizations/${organization.id}/`, { max_hosts: 1 }).expect(200);
  const third = await test.make.inventory({ organization: organization.id });
  await create(third, 'a').expect(201);
  await create(third, 'z').expect(403);
});

it('two simultaneous requests cannot both create the last host', async () => {
  const names = ['c', 'd', 'e', 'f'];
  const answers = await Promise.all([
    ...names.map((name) => create(first, name)),
    ...names.map((name) => bulk(second, [name])),
  ]);
  const made = answers.filter(({ status }) => status === 201);
  expect(made.length).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => ![201, 403].includes(status))).toEqual([]);
  expect(await counted()).toBe(MAX);
});

it('the check needs a constant number of statements', async () => {
  await test.as.superuser.patch(`organizations/${organization.id}/`, { max_hosts: 30 }).expect(200);
  await test.make.hosts(first, 28);
  const many = Array.from({ length: 60 }, (_, index) => `new ${index}`);
  const refused = (names: string[]) => async (): Promise<void> => {
    await bulk(first, names).expect(403);
  };
  await sameQueries(test.database, refused(many.slice(0, 2)), refused(many));
});
