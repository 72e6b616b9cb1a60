/** Inventories constructed from other inventories (docs/contract/constructed-inventories.md). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { insertRow } from '../../src/database/rows.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let organization: number;
beforeAll(async () => {
  test = await boot();
  organization = test.home.organization.id;
});
afterAll(() => test.close());

let counter = 0;
const named = (fields: object = {}) => ({
  name: `Made ${(counter += 1)}`,
  organization,
  ...fields,
});
const construct = async (fields: object = {}): Promise<Row> =>
  (await test.as.orgAdmin.post('constructed_inventories/', named(fields)).expect(201)).body;
const sourceOf = async ({ id }: Row): Promise<Row> => {
  const { body } = await test.as.orgAdmin.get(`inventories/${id}/inventory_sources/`).expect(200);
  expect(body.count).toBe(1);
  return body.results[0];
};
const attach = ({ id }: Row, input: Row, more: object = {}) =>
  test.as.orgAdmin.post(`inventories/${id}/input_inventories/`, { id: input.id, ...more });
const inputsOf = async ({ id }: Row): Promise<number[]> =>
  (await test.as.orgAdmin.get(`inventories/${id}/input_inventories/`).expect(200)).body.results.map(
    (input: Row) => input.id,
  );
/** Inserts a row as an update would. */
const insert = async (table: string, values: Record<string, unknown>): Promise<Row> =>
  (await test.database.row<Row>(insertRow(table, values)))!;

it.each([
  ['an empty kind', 'patch', { kind: '' }],
  ['a kind of null', 'patch', { kind: null }],
  ['all fields without a kind', 'put', {}],
] as const)('a constructed inventory stays constructed after %s', async (_sent, method, fields) => {
  const made = await construct();
  const body = { ...fields, ...(method === 'put' ? { name: made.name, organization } : {}) };
  const answer = await test.as.orgAdmin[method](`inventories/${made.id}/`, body).expect(200);
  expect(answer.body.kind).toBe('constructed');
  await test.as.orgAdmin.get(`constructed_inventories/${made.id}/`).expect(200);
});

describe('a constructed inventory is created', () => {
  it('in the list of inventories with its kind, and under its own URL without it', async () => {
    const options = {
      source_vars: 'strict: true',
      limit: 'web',
      update_cache_timeout: 60,
      verbosity: 2,
    };
    const { body: made, headers } = await test.as.orgAdmin
      .post('constructed_inventories/', named({ ...options, kind: 'smart' }))
      .expect(201);
    expect(made).toMatchObject({ ...options, kind: 'constructed', type: 'inventory' });
    expect(made).not.toHaveProperty('host_filter');
    expect(made.url).toBe(`/api/v2/constructed_inventories/${made.id}/`);
    expect(headers.location).toBe(made.url);
    const { body: plain } = await test.as.orgAdmin.get(`inventories/${made.id}/`).expect(200);
    expect(plain).toMatchObject({ kind: 'constructed', url: `/api/v2/inventories/${made.id}/` });
    expect(plain).not.toHaveProperty('source_vars');
    for (const { related, summary_fields } of [made, plain]) {
      expect(related).toMatchObject({
        constructed_url: made.url,
        input_inventories: `/api/v2/inventories/${made.id}/input_inventories/`,
        groups: `/api/v2/inventories/${made.id}/groups/`,
      });
      expect(summary_fields).toMatchObject({
        organization: { id: organization },
        object_roles: { admin_role: { name: 'Admin' } },
        user_capabilities: { edit: true, copy: true },
      });
    }
    const other = await test.as.orgAdmin
      .post('inventories/', named({ kind: 'constructed' }))
      .expect(201);
    const { body: found } = await test.as.orgAdmin.get(`constructed_inventories/${other.body.id}/`);
    expect(found).toMatchObject({ source_vars: '', limit: '', verbosity: 1 });
  });

  it('by administrators of inventories of the organization', async () => {
    await test.as.orgMember.post('constructed_inventories/', named()).expect(403);
    await test.as.orgMember.post('inventories/', named({ kind: 'constructed' })).expect(403);
  });

  it('completely or not at all, if its source refuses a value', async () => {
    const body = named({ source_vars: 'PATH: x' });
    const refused = await test.as.orgAdmin.post('constructed_inventories/', body).expect(400);
    expect(refused.body).toEqual({
      source_vars: ['`PATH` is a prohibited environment variable'],
    });
    const { body: found } = await test.as.orgAdmin.get(`inventories/?name=${body.name}`);
    expect(found.count).toBe(0);
    const types = await test.as.orgAdmin
      .post('constructed_inventories/', { update_cache_timeout: -1, verbosity: 9 })
      .expect(400);
    expect(Object.keys(types.body).sort()).toEqual([
      'name',
      'organization',
      'update_cache_timeout',
      'verbosity',
    ]);
  });
});

describe('its source', () => {
  it('is created and deleted with it', async () => {
    const made = await construct({ name: 'Whole' });
    const source = await sourceOf(made);
    expect(source).toMatchObject({
      name: 'Auto-created source for: Whole',
      source: 'constructed',
      ...{ overwrite: true, overwrite_vars: true, update_on_launch: true },
      ...{ update_cache_timeout: 0, verbosity: 1, source_vars: '', limit: '', source_path: '' },
    });
    expect(source.summary_fields).toMatchObject({ user_capabilities: { delete: false } });
    await test.as.orgAdmin.delete(`inventory_sources/${source.id}/`).expect(400);
    await test.as.orgAdmin.delete(`constructed_inventories/${made.id}/`).expect(202);
    await test.as.orgAdmin.get(`inventory_sources/${source.id}/`).expect(404);
  });

  it('accepts changes of four fields, under both URLs', async () => {
    const made = await construct();
    const { id } = await sourceOf(made);
    const source = `inventory_sources/${id}/`;
    await test.as.orgAdmin.patch(source, { source_vars: 'compose: {a: "1"}' }).expect(200);
    const url = `constructed_inventories/${made.id}/`;
    const { body } = await test.as.orgAdmin
      .patch(url, { limit: 'db', source_vars: null, description: 'new' })
      .expect(200);
    expect(body).toMatchObject({
      limit: 'db',
      source_vars: 'compose: {a: "1"}',
      description: 'new',
    });
    expect((await test.as.orgAdmin.get(source)).body).toMatchObject({ limit: 'db' });
    const other = { verbosity: 2, update_cache_timeout: 30 };
    await test.as.orgAdmin.patch(url, other).expect(200);
    expect((await test.as.orgAdmin.get(source)).body).toMatchObject(other);
    const again = { ...{ verbosity: 0, update_cache_timeout: 60 }, limit: 'db' };
    await test.as.orgAdmin.patch(source, again).expect(200);
    expect((await test.as.orgAdmin.get(url)).body).toMatchObject(again);
    const refused = await test.as.orgAdmin
      .patch(source, { overwrite: false, name: 'Other', source: 'scm' })
      .expect(400);
    const text = (name: string) => [
      `Cannot change field '${name}' on a constructed inventory source.`,
    ];
    expect(refused.body).toEqual({
      ...{ overwrite: text('overwrite'), name: text('name'), source: text('source') },
    });
    await test.as.orgAdmin.patch(url, { source_vars: '- a' }).expect(400);
    await test.as.orgAdmin.patch(url, { limit: '--list' }).expect(400);
    const { body: whole } = await test.as.orgAdmin
      .put(url, { name: body.name, organization })
      .expect(200);
    expect(whole).toMatchObject({ limit: 'db', description: '' });
  });

  it('does not appear among other sources', async () => {
    const made = await construct();
    const inventory = await test.make.inventory({ organization });
    const body = { name: 'Own', source: 'ec2', inventory: made.id };
    await test.as.orgAdmin.post('inventory_sources/', body).expect(400);
    const refused = await test.as.orgAdmin
      .post('inventory_sources/', { ...body, inventory: inventory.id, source: 'constructed' })
      .expect(400);
    expect(refused.body).toEqual({ source: ['constructed not a valid source for inventory'] });
    const { id } = await sourceOf(made);
    const credential = await test.make.credential({ organization });
    await test.as.superuser
      .post(`inventory_sources/${id}/credentials/`, { id: credential.id })
      .expect(400);
  });
});

describe('the inputs of a constructed inventory', () => {
  it('keep the order in which they were attached', async () => {
    const made = await construct();
    const [one, two, three] = await Promise.all(
      [1, 2, 3].map(() => test.make.inventory({ organization })),
    );
    for (const input of [three, one, two]) await attach(made, input!).expect(204);
    await attach(made, three!).expect(204);
    expect(await inputsOf(made)).toEqual([three!.id, one!.id, two!.id]);
    await attach(made, three!, { disassociate: true }).expect(204);
    await attach(made, three!).expect(204);
    expect(await inputsOf(made)).toEqual([one!.id, two!.id, three!.id]);
    await test.as.orgAdmin.delete(`inventories/${one!.id}/`).expect(202);
    expect(await inputsOf(made)).toEqual([two!.id, three!.id]);
  });

  it('are not constructed inventories, and belong to no other kind', async () => {
    const [made, other] = [await construct(), await construct()];
    const { body } = await attach(made, other).expect(400);
    expect(body).toEqual({
      detail: 'You cannot add a constructed inventory to another constructed inventory.',
    });
    const [inventory, input] = await Promise.all(
      [1, 2].map(() => test.make.inventory({ organization })),
    );
    const refused = await attach(inventory!, input!).expect(400);
    expect(refused.body.detail).toBe('Only constructed inventories have input inventories.');
    const missing = await test.as.orgAdmin
      .post(`inventories/${made.id}/input_inventories/`, {})
      .expect(400);
    expect(missing.body.detail).toBe("Inventory 'id' field is missing.");
    const { body: shown } = await test.as.orgAdmin.get(`inventories/${inventory!.id}/`);
    expect(shown.related).not.toHaveProperty('input_inventories');
    expect(shown.related).not.toHaveProperty('constructed_url');
  });

  it('do not change after the deletion of the inventory has begun', async () => {
    const made = await construct();
    const input = await test.make.inventory({ organization });
    await test.database.execute(
      sql`UPDATE inventories SET pending_deletion = true WHERE id = ${made.id}`,
    );
    const pending = { detail: 'Inventory is already pending deletion.' };
    await attach(made, input).expect(400, pending);
    await attach(made, input, { disassociate: true }).expect(400, pending);
  });

  it('can be attached by users with use on them', async () => {
    const made = await construct();
    const { organization: other } = await elsewhere();
    const foreign = await test.make.inventory({ organization: other });
    await test.make.grant('inventory', foreign, 'read_role', { user: test.as.users.orgAdmin });
    await attach(made, foreign).expect(403);
    await test.make.grant('inventory', foreign, 'use_role', { user: test.as.users.orgAdmin });
    await attach(made, foreign).expect(204);
    expect(await inputsOf(made)).toEqual([foreign.id]);
  });

  const elsewhere = async () => ({ organization: test.home.otherOrganization.id });
});

it('hosts and groups of a constructed inventory cannot be changed by hand', async () => {
  const made = await construct();
  const host = await insert('hosts', { inventory_id: made.id, name: 'web' });
  const group = await insert('groups', { inventory_id: made.id, name: 'webs' });
  const { orgAdmin } = test.as;
  for (const [url, body] of [
    ['hosts/', { name: 'new', inventory: made.id }],
    ['groups/', { name: 'new', inventory: made.id }],
    [`inventories/${made.id}/hosts/`, { name: 'new' }],
    [`groups/${group.id}/hosts/`, { id: host.id }],
    [`groups/${group.id}/hosts/`, { name: 'new' }],
    [`groups/${group.id}/hosts/`, { id: host.id, disassociate: true }],
    [`groups/${group.id}/children/`, { name: 'new' }],
    [`hosts/${host.id}/groups/`, { id: group.id }],
  ] as const) {
    expect([url, (await orgAdmin.post(url, body)).status]).toEqual([url, 400]);
  }
  const { body } = await orgAdmin.delete(`hosts/${host.id}/`).expect(400);
  expect(body).toEqual({ detail: 'Delete constructed inventory hosts from input inventory.' });
  await orgAdmin.patch(`hosts/${host.id}/`, { enabled: false }).expect(400);
  await orgAdmin.put(`hosts/${host.id}/variable_data/`, { a: 1 }).expect(400);
  await orgAdmin.patch(`groups/${group.id}/`, { name: 'other' }).expect(400);
  await orgAdmin.delete(`groups/${group.id}/`).expect(400);
  await orgAdmin.post('bulk/host_delete/', { hosts: [host.id] }).expect(400);
});

it.each(['smart', 'constructed'])(
  'an inventory of the kind %s offers no creation of hosts or groups',
  async (kind) => {
    const body = named({ kind, ...(kind === 'smart' ? { host_filter: 'name=web' } : {}) });
    const { body: made } = await test.as.orgAdmin.post('inventories/', body).expect(201);
    const ordinary = await test.make.inventory({ organization });
    for (const list of ['hosts', 'groups', 'root_groups', 'inventory_sources']) {
      for (const [inventory, offered] of [
        [made, false],
        [ordinary, true],
      ] as const) {
        const { body: described, headers } = await test.as.orgAdmin
          .options(`inventories/${inventory.id}/${list}/`)
          .expect(200);
        expect([list, 'POST' in described.actions]).toEqual([list, offered]);
        expect([list, String(headers.allow).includes('POST')]).toEqual([list, offered]);
      }
    }
  },
);

it('a constructed inventory is copied with its inputs and the options of its source', async () => {
  const made = await construct({ source_vars: 'strict: true', limit: 'web' });
  const input = await test.make.inventory({ organization });
  await attach(made, input).expect(204);
  await insert('hosts', { inventory_id: made.id, name: 'web' });
  const { body: copy } = await test.as.orgAdmin
    .post(`inventories/${made.id}/copy/`, { name: 'Its copy' })
    .expect(201);
  expect(copy).toMatchObject({ kind: 'constructed', total_hosts: 0 });
  expect(await inputsOf(copy)).toEqual([input.id]);
  expect(await sourceOf(copy)).toMatchObject({ source_vars: 'strict: true', limit: 'web' });
  const foreign = await test.make.inventory({ organization: test.home.otherOrganization.id });
  await test.database.execute(sql`
    INSERT INTO inventory_inputs (inventory_id, input_id) VALUES (${made.id}, ${foreign.id})`);
  await test.as.orgAdmin.post(`inventories/${made.id}/copy/`, { name: 'Another' }).expect(403);
});

it('the URL of constructed inventories shows only these', async () => {
  await construct();
  const ordinary = await test.make.inventory({ organization });
  const url = `constructed_inventories/${ordinary.id}/`;
  await test.as.orgAdmin.get(url).expect(404);
  await test.as.orgAdmin.patch(url, { name: 'x' }).expect(404);
  await test.as.orgAdmin.delete(url).expect(404);
  const { body } = await test.as.orgAdmin.get('constructed_inventories/').expect(200);
  expect(new Set(body.results.map(({ kind }: Row) => kind))).toEqual(new Set(['constructed']));
  expect(body.results[0].url).toBe(`/api/v2/constructed_inventories/${body.results[0].id}/`);
  const { body: root } = await test.as.orgAdmin.get('').expect(200);
  expect(root.constructed_inventory).toBe('/api/v2/constructed_inventories/');
});
