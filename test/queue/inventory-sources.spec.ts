/**
 * Importing what sources bring, against a real database
 * (docs/contract/inventory-sources.md#import).
 *
 * Budget: 25 s, because it imports fifty thousand hosts.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { ImportError } from '../../src/inventories/import/delivery.js';
import type { ImportChanges } from '../../src/inventories/import/import-changes.js';
import { InventoryImport } from '../../src/inventories/import/inventory-import.service.js';
import { readDelivery } from '../../src/inventories/import/delivery-reader.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;
let imports: InventoryImport;
beforeAll(async () => {
  test = await boot();
  imports = test.app.get(InventoryImport, { strict: false });
});
afterAll(() => test.close());

interface Place {
  inventory: Row;
  source: Row;
}

const sourceOf = async (inventory: Row): Promise<Place> => {
  const name = `Source ${Math.random()}`;
  const { body: source } = await test.as.superuser
    .post('inventory_sources/', { name, inventory: inventory.id, source: 'ec2' })
    .expect(201);
  return { inventory, source };
};
const place = async (): Promise<Place> =>
  sourceOf(await test.make.inventory({ organization: test.home.organization.id }));

const bring = async (
  { inventory, source }: Place,
  document: object,
  options: { overwrite?: boolean; overwriteVars?: boolean; hasInstanceIds?: boolean } = {},
): Promise<ImportChanges> => {
  const rules = { enabled: null, instanceId: ['id'] };
  const delivery = await readDelivery(document, rules);
  return test.database.transaction(() =>
    imports.store(
      { sourceId: source.id, inventoryId: inventory.id },
      delivery,
      { overwrite: false, overwriteVars: false, hasInstanceIds: true, ...options },
      { report: () => undefined, checkpoint: () => undefined },
    ),
  );
};

const scriptOf = async ({ inventory }: Place) =>
  (await test.as.superuser.get(`inventories/${inventory.id}/script/?hostvars=1`).expect(200)).body;
const hostNamed = async ({ inventory }: Place, name: string) =>
  (await test.as.superuser.get(`inventories/${inventory.id}/hosts/?name=${name}`)).body.results[0];

const WEB = {
  all: { vars: { dns: 1 } },
  web: { hosts: ['w1', 'w2'], vars: { tier: 'x' } },
  prod: { children: ['web'] },
  _meta: { hostvars: { w1: { a: 1 } } },
};

it('an import creates and counts hosts, groups and variables, and changes nothing when repeated', async () => {
  const here = await place();
  expect(await bring(here, WEB)).toEqual({
    hosts: { added: 2, changed: 0, removed: 0, disabled: 0 },
    groups: { added: 2, changed: 0, removed: 0 },
    variables: true,
  });
  expect(await scriptOf(here)).toEqual({
    all: { children: ['prod', 'web'], vars: { dns: 1 } },
    prod: { children: ['web'] },
    web: { hosts: ['w1', 'w2'], vars: { tier: 'x' } },
    _meta: { hostvars: { w1: { a: 1 }, w2: {} } },
  });
  const { body } = await test.as.superuser.get(`inventories/${here.inventory.id}/`);
  expect(body).toMatchObject({ total_hosts: 2, total_groups: 2 });
  expect(await hostNamed(here, 'w1')).toMatchObject({
    description: 'imported',
    has_inventory_sources: true,
  });
  const { modified } = await hostNamed(here, 'w1');
  expect(await bring(here, WEB, { overwrite: true })).toMatchObject({
    hosts: { added: 0, changed: 0, removed: 0 },
    groups: { added: 0, changed: 0, removed: 0 },
    variables: false,
  });
  expect((await hostNamed(here, 'w1')).modified).toBe(modified);
});

it('an import with overwrite removes its own objects only', async () => {
  const here = await place();
  const other = await sourceOf(here.inventory);
  await bring(here, { web: ['mine', 'shared', 'adopted'] });
  await bring(other, { web: ['shared', 'theirs'] });
  await test.make.host(here.inventory, { name: 'by-hand' });
  expect(await bring(here, { app: ['new'] }, { overwrite: true })).toMatchObject({
    hosts: { added: 1, removed: 2 },
    groups: { added: 1, removed: 0 },
  });
  const { app, web, _meta } = await scriptOf(here);
  expect({ app, web }).toEqual({ app: { hosts: ['new'] }, web: { hosts: ['theirs'] } });
  expect(Object.keys(_meta.hostvars)).toEqual(['by-hand', 'new', 'shared', 'theirs']);
  const { body } = await test.as.superuser.get(`inventory_sources/${here.source.id}/hosts/`);
  expect(body.results.map(({ name }: Row) => name)).toEqual(['new']);
});

it('an import moves the contents of a removed group to its parent groups', async () => {
  const here = await place();
  await bring(here, { top: { children: ['mid'] }, mid: { children: ['low'] }, low: ['h'] });
  await bring(here, { top: {}, low: ['h'], _meta: {} });
  await bring(here, { top: { children: ['low'] }, low: ['h'] }, { overwrite: true });
  const { top, mid } = await scriptOf(here);
  expect(top).toEqual({ children: ['low'] });
  expect(mid).toBeUndefined();
});

it('an import merges variables, and removes its earlier ones', async () => {
  const here = await place();
  await bring(here, {
    all: { vars: { a: 1, b: 1 } },
    _meta: { hostvars: { h: { x: 1, state: 1 } } },
  });
  const { id } = await hostNamed(here, 'h');
  await test.as.superuser
    .patch(`hosts/${id}/`, { variables: 'x: 1\nstate: 2\nown: 3\n' })
    .expect(200);
  await bring(here, { all: { vars: { b: 2 } }, _meta: { hostvars: { h: { z: 1 } } } });
  const { all, _meta } = await scriptOf(here);
  expect(all.vars).toEqual({ b: 2 });
  // `state` was edited manually, so it no longer counts as a value of the source.
  expect(_meta.hostvars.h).toEqual({ state: 2, own: 3, z: 1 });
  await bring(here, { _meta: { hostvars: { h: { z: 2 } } } }, { overwriteVars: true });
  expect((await scriptOf(here))._meta.hostvars.h).toEqual({ z: 2 });
});

it('an import with overwrite_vars replaces group variables, and merges those of the inventory', async () => {
  const here = await place();
  const documentWith = (vars: object) => ({ all: { vars }, web: { hosts: ['w'], vars } });
  await bring(here, documentWith({ a: 1, b: 1 }));
  const { inventory } = here;
  const { body: groups } = await test.as.superuser.get(`inventories/${inventory.id}/groups/`);
  const own = async (path: string): Promise<void> => {
    const { body } = await test.as.superuser.get(`${path}variable_data/`).expect(200);
    await test.as.superuser.put(`${path}variable_data/`, { ...body, own: 1 }).expect(200);
  };
  await own(`groups/${groups.results[0].id}/`);
  await own(`inventories/${inventory.id}/`);
  const varsNow = async () => {
    const { all, web } = await scriptOf(here);
    return { all: all.vars, web: web.vars };
  };
  await bring(here, documentWith({ b: 2 }));
  expect(await varsNow()).toEqual({ all: { own: 1, b: 2 }, web: { own: 1, b: 2 } });
  await bring(here, documentWith({ c: 3 }), { overwriteVars: true });
  expect(await varsNow()).toEqual({ all: { own: 1, c: 3 }, web: { c: 3 } });
});

it('an import without ids keeps the ids of other sources', async () => {
  const here = await place();
  await bring(here, { _meta: { hostvars: { a: { id: 'i-1' } } } });
  const files = await sourceOf(here.inventory);
  await bring(files, { _meta: { hostvars: { a: { place: 'x' } } } }, { hasInstanceIds: false });
  expect(await hostNamed(here, 'a')).toMatchObject({ instance_id: 'i-1' });
  await bring(here, { _meta: { hostvars: { renamed: { id: 'i-1' } } } });
  expect(await hostNamed(here, 'renamed')).toMatchObject({ instance_id: 'i-1' });
});

it('an import renames hosts with known ids, also by swapping names', async () => {
  const here = await place();
  const named = (one: string, two: string) => ({
    _meta: { hostvars: { [one]: { id: 'i-1' }, [two]: { id: 'i-2' } } },
  });
  await bring(here, named('a', 'b'));
  const { id } = await hostNamed(here, 'a');
  await bring(here, named('b', 'a'));
  expect(await hostNamed(here, 'b')).toMatchObject({ id, instance_id: 'i-1' });
});

it('an import refuses circular groups, and changes nothing', async () => {
  const here = await place();
  await bring(here, { a: { children: ['b'] }, b: {} });
  const before = await scriptOf(here);
  const circle = bring(here, { b: { children: ['a'] }, c: ['new'] });
  await expect(circle).rejects.toThrow(/cycle: (a > b > a|b > a > b)/);
  await expect(circle).rejects.toBeInstanceOf(ImportError);
  expect(await scriptOf(here)).toEqual(before);
});

it('an import is refused above the host limit of the organization, and accepted at it', async () => {
  const { body: organization } = await test.as.superuser
    .post('organizations/', { name: 'Small', max_hosts: 2 })
    .expect(201);
  const here = await sourceOf(await test.make.inventory({ organization: organization.id }));
  await expect(bring(here, { g: ['1', '2', '3'] })).rejects.toThrow(
    'Host limit for organization exceeded!',
  );
  expect((await scriptOf(here))._meta.hostvars).toEqual({});
  await bring(here, { g: ['1', '2'] });
});

it('simultaneous imports into one inventory run one after the other', async () => {
  const here = await place();
  const other = await sourceOf(here.inventory);
  const names = (prefix: string) => Array.from({ length: 500 }, (_, n) => `${prefix}${n}`);
  await Promise.all([
    bring(here, { web: [...names('a'), ...names('shared')] }),
    bring(other, { web: [...names('b'), ...names('shared')] }),
    bring(here, { web: names('a') }, { overwrite: true }),
  ]);
  const { body } = await test.as.superuser.get(`inventories/${here.inventory.id}/`);
  const counted = await test.database.row<{ hosts: number }>(sql`
    SELECT count(*)::int AS hosts FROM hosts WHERE inventory_id = ${here.inventory.id}`);
  expect(body.total_hosts).toBe(counted?.hosts);
});

it('an import needs as many statements for many hosts as for few', async () => {
  const names = (count: number) => ({ web: Array.from({ length: count }, (_, n) => `h${n}`) });
  const few = await place();
  const many = await place();
  const asked = await countQueries(test.database, () => bring(few, names(2)));
  expect(await countQueries(test.database, () => bring(many, names(3000)))).toBe(asked);
});

it('an import of fifty thousand hosts takes seconds, with little extra memory', async () => {
  const here = await place();
  const names = Array.from({ length: 50_000 }, (_, n) => `host-${n}.example.org`);
  const hostvars = Object.fromEntries(names.map((name, n) => [name, { id: `i-${n}`, rack: n }]));
  const document = { fleet: { hosts: names }, _meta: { hostvars } };
  const before = process.memoryUsage().rss;
  const started = performance.now();
  expect(await bring(here, document)).toMatchObject({ hosts: { added: 50_000 } });
  expect(performance.now() - started).toBeLessThan(60_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(512 * 1024 * 1024);
  const { body } = await test.as.superuser.get(`inventories/${here.inventory.id}/`);
  expect(body.total_hosts).toBe(50_000);
});
