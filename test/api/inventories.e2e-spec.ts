import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { GroupChildrenRepository } from '../../src/inventories/group-children.repository.js';
import { GroupsRepository } from '../../src/inventories/groups.repository.js';
import { inUse } from '../support/in-use.js';
import { boot, type TestApp } from '../support/boot.js';
import { interleave } from '../support/interleave.js';
import { removeInventory } from '../support/inventory-deletion.js';
import type { PersonaName } from '../support/personas.js';
import { countQueries, samePageQueries } from '../support/queries.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const ofHome = (fields: object = {}) => ({ organization: test.home.organization.id, ...fields });

describe('creating', () => {
  it('accepts every field that clients send with an inventory', async () => {
    const { body } = await test.as.orgAdmin
      .post(
        'inventories/',
        ofHome({ name: 'From a client', kind: null, host_filter: null, variables: { a: 1 } }),
      )
      .expect(201);
    expect(body).toMatchObject({
      kind: '',
      host_filter: null,
      variables: '{"a": 1}',
      total_hosts: 0,
      total_groups: 0,
      has_active_failures: false,
      hosts_with_active_failures: 0,
      has_inventory_sources: false,
      total_inventory_sources: 0,
      inventory_sources_with_failures: 0,
      pending_deletion: false,
      summary_fields: {
        user_capabilities: { edit: true, delete: true, copy: true, adhoc: true },
        object_roles: { use_role: { name: 'Use' }, adhoc_role: { name: 'Ad Hoc' } },
      },
    });
  });

  it.each([
    [{ organization: undefined }, { organization: ['This field is required.'] }],
    [{ kind: 'smart' }, { host_filter: ['Smart inventories must specify host_filter'] }],
    [{ kind: 'other' }, { kind: ['"other" is not a valid choice.'] }],
    [{ host_filter: 'name=a' }, { host_filter: ['Only smart inventories have a host_filter.'] }],
  ])('refuses %j', async (fields, errors) => {
    const body = ofHome({ name: 'Refused', ...fields });
    expect((await test.as.orgAdmin.post('inventories/', body).expect(400)).body).toEqual(errors);
  });

  it('requires a unique name in the organization', async () => {
    await test.make.inventory(ofHome({ name: 'Taken' }));
    const { body } = await test.as.orgAdmin
      .post('inventories/', ofHome({ name: 'Taken' }))
      .expect(400);
    expect(body).toEqual({
      __all__: ['Inventory with this Name and Organization already exists.'],
    });
  });

  it('never changes the kind of an inventory', async () => {
    const { id } = await test.make.inventory(ofHome());
    const { body } = await test.as.orgAdmin
      .patch(`inventories/${id}/`, { kind: 'smart' })
      .expect(405);
    expect(body.detail).toBe(
      'You cannot turn a regular inventory into a "smart" or "constructed" inventory.',
    );
  });
});

describe('permissions', () => {
  let inventory: Row;
  beforeAll(async () => {
    inventory = await test.make.inventory(ofHome({ name: 'Guarded' }));
    await test.make.grant('inventory', inventory, 'use_role', { user: test.as.users.orgMember });
    await test.make.grant('inventory', inventory, 'admin_role', { team: test.home.team });
  });

  it.each<[PersonaName, number, number, number]>([
    ['superuser', 200, 200, 201],
    ['auditor', 200, 403, 403],
    ['orgAdmin', 200, 200, 201],
    ['orgMember', 200, 403, 403],
    ['teamMember', 200, 200, 403],
    ['outsider', 403, 403, 403],
    ['nobody', 403, 403, 403],
  ])('%s: read %i, change %i, create %i', async (name, read, change, create) => {
    const client = test.as[name];
    await client.get(`inventories/${inventory.id}/`).expect(read);
    await client.get(`inventories/${inventory.id}/script/`).expect(read);
    await client.patch(`inventories/${inventory.id}/`, { description: name }).expect(change);
    await client.put(`inventories/${inventory.id}/variable_data/`, { by: name }).expect(change);
    const hosts = `inventories/${inventory.id}/hosts/`;
    await client.post(hosts, { name: `of-${name}` }).expect(change === 200 ? 201 : 403);
    await client.post('inventories/', ofHome({ name: `Made by ${name}` })).expect(create);
  });

  it('require admin on the new organization for a move', async () => {
    const { id } = await test.make.inventory(ofHome());
    const organization = test.home.otherOrganization.id;
    await test.as.orgAdmin.patch(`inventories/${id}/`, { organization }).expect(403);
    await test.as.superuser.patch(`inventories/${id}/`, { organization }).expect(200);
    await test.as.orgAdmin.get(`inventories/${id}/`).expect(403);
    await test.as.outsider.get(`inventories/${id}/`).expect(200);
  });
});

it('sources move to another organization with their inventory', async () => {
  const { as, home, make } = test;
  const inventory = await make.inventory(ofHome());
  const source = await make.row('inventory_source', {
    ...{ name: 'Moves', inventory: inventory.id, source: 'ec2' },
  });
  const organization = home.otherOrganization.id;
  await as.superuser.patch(`inventories/${inventory.id}/`, { organization }).expect(200);
  const url = `unified_job_templates/?id=${source.id}&organization=${organization}`;
  expect((await as.superuser.get(url).expect(200)).body.count).toBe(1);
});

describe('counters', () => {
  it('are exact after every kind of change', async () => {
    const { make, as, database } = test;
    const inventory = await make.inventory(ofHome());
    const [first, second] = await make.hosts(inventory, 7);
    await make.group(inventory);
    await as.superuser.delete(`hosts/${second}/`).expect(204);
    const [{ id: job } = { id: 0 }] = await database.rows<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status) VALUES ('job', 'Ended', 'failed') RETURNING id`);
    const [{ id: summary } = { id: 0 }] = await database.rows<{ id: number }>(sql`
      INSERT INTO job_host_summaries (job_id, host_id, host_name, failed)
      VALUES (${job}, ${first}, 'first', true) RETURNING id`);
    await database.execute(sql`
      UPDATE hosts SET last_job_id = ${job}, last_job_host_summary_id = ${summary}
      WHERE id = ${first}`);
    const shown = async () => (await as.superuser.get(`inventories/${inventory.id}/`)).body;
    const failing = { has_active_failures: true, hosts_with_active_failures: 1 };
    expect(await shown()).toMatchObject({ total_hosts: 6, total_groups: 1, ...failing });
    const host = (await as.superuser.get(`hosts/${first}/`).expect(200)).body;
    expect(host.summary_fields.inventory).toMatchObject({ total_hosts: 6, kind: '', ...failing });
    expect(host.has_active_failures).toBe(true);
    expect(host.summary_fields.recent_jobs).toEqual([
      { id: job, name: 'Ended', type: 'job', status: 'failed', finished: null },
    ]);
    await database.execute(sql`DELETE FROM unified_jobs WHERE id = ${job}`);
    expect(await shown()).toMatchObject({
      has_active_failures: false,
      hosts_with_active_failures: 0,
    });
  });

  it('need no statement for each row', async () => {
    for (let made = 0; made < 20; made++) await test.make.inventory(ofHome());
    await samePageQueries(test.database, test.as.orgAdmin, 'inventories/', [1, 20]);
  });
});

describe('script and tree', () => {
  it('shows one state of an inventory that is imported meanwhile', async () => {
    const { app, as, database, home, make } = test;
    const inventory = await make.inventory({ organization: home.organization.id });
    const host = await make.host(inventory, { name: 'web' });
    const old = await make.group(inventory, { name: 'old' });
    await as.orgAdmin.post(`groups/${old.id}/hosts/`, { id: host.id }).expect(204);
    const groups = app.get(GroupsRepository, { strict: false });
    const described = groups.described.bind(groups);
    jest.spyOn(groups, 'described').mockImplementationOnce(async (id) => {
      const found = await described(id);
      await database.withClient((client) =>
        client.query(`DELETE FROM groups WHERE id = ${old.id}`),
      );
      return found;
    });
    const { body } = await as.orgAdmin.get(`inventories/${inventory.id}/script/`).expect(200);
    expect(body).toEqual({ all: { children: ['old'] }, old: { hosts: ['web'] } });
  });

  let inventory: Row;
  beforeAll(async () => {
    const { make, as } = test;
    inventory = await make.inventory(ofHome({ variables: 'region: north' }));
    const web = await make.group(inventory, { name: 'web', variables: '{"port": 80}' });
    const front = await make.group(inventory, { name: 'front' });
    await make.host(inventory, { name: 'alone', enabled: false });
    const host = await make.host(inventory, { name: 'w1', variables: 'a: 1' });
    await as.superuser.post(`groups/${web.id}/children/`, { id: front.id }).expect(204);
    await as.superuser.post(`groups/${front.id}/hosts/`, { id: host.id }).expect(204);
  });

  it('return the document that a job would use', async () => {
    const path = `inventories/${inventory.id}/script/`;
    const { body } = await test.as.orgAdmin.get(`${path}?hostvars=1`).expect(200);
    expect(body).toEqual({
      all: { children: ['front', 'web'], vars: { region: 'north' } },
      front: { hosts: ['w1'] },
      web: { children: ['front'], vars: { port: 80 } },
      _meta: { hostvars: { w1: { a: 1 } } },
    });
    const all = await test.as.orgAdmin.get(`${path}?all=1&hostvars=1&towervars=1`).expect(200);
    expect(all.body.all.hosts).toEqual(['alone']);
    expect(all.body._meta.hostvars.alone).toMatchObject({ remote_tower_enabled: 'false' });
    expect((await test.as.orgAdmin.get(`${path}?host=w1`).expect(200)).body).toEqual({ a: 1 });
    await test.as.orgAdmin.get(`${path}?host=nobody`).expect(404);
    await test.as.orgAdmin.get(`${path}?subset=slice1of2`).expect(200);
    await test.as.orgAdmin.get(`${path}?subset=half`).expect(400);
  });

  it('nest groups below their parents', async () => {
    const { body } = await test.as.orgAdmin.get(`inventories/${inventory.id}/tree/`).expect(200);
    expect(body).toMatchObject([{ name: 'web', children: [{ name: 'front', children: [] }] }]);
    const roots = await test.as.orgAdmin
      .get(`inventories/${inventory.id}/root_groups/`)
      .expect(200);
    expect(roots.body.results.map(({ name }: { name: string }) => name)).toEqual(['web']);
  });

  describe('of deeply nested groups', () => {
    let deep: Row;
    beforeAll(async () => {
      deep = await test.make.inventory({ organization: test.home.organization.id });
    });

    const tree = () => test.as.orgAdmin.get(`inventories/${deep.id}/tree/`);
    async function chain(groups: number): Promise<void> {
      const { database } = test;
      await database.execute(sql`DELETE FROM groups WHERE inventory_id = ${deep.id}`);
      await database.execute(sql`
        WITH made AS (
          INSERT INTO groups (inventory_id, name)
          SELECT ${deep.id}::int, 'group ' || number FROM generate_series(1, ${groups}::int) number
          RETURNING id)
        INSERT INTO group_children (parent_id, child_id)
        SELECT one.id, next.id FROM made one JOIN made next ON next.id = one.id + 1`);
    }

    it('refuse a tree that is too deep', async () => {
      await chain(500);
      expect((await tree().expect(200)).body).toHaveLength(1);
      await chain(4000);
      expect((await tree().expect(400)).body.detail).toContain('more than 500 levels');
    });

    it('omit a group that was created after the groups were read', async () => {
      await chain(2);
      const edges = test.app.get(GroupChildrenRepository, { strict: false });
      jest
        .spyOn(edges, 'edgesOf')
        .mockImplementationOnce(([parentId = 0]) => Promise.resolve([{ parentId, childId: 1e9 }]));
      expect((await tree().expect(200)).body).toHaveLength(2);
    });
  });

  it('an inventory is copied with all its contents', async () => {
    const path = `inventories/${inventory.id}/copy/`;
    expect((await test.as.orgAdmin.get(path).expect(200)).body).toEqual({ can_copy: true });
    expect((await test.as.auditor.get(path).expect(200)).body).toEqual({ can_copy: false });
    await test.as.auditor.post(path, { name: 'Copy' }).expect(403);
    const same = await test.as.orgAdmin.post(path, { name: inventory.name }).expect(400);
    expect(same.body.name[0]).toContain('is already named');
    const groups: number[] = [];
    for (const name of ['Usable', 'Not usable']) {
      const { body: group } = await test.as.superuser.post('instance_groups/', { name });
      groups.push(group.id);
      const id = { id: group.id };
      await test.as.superuser.post(`inventories/${inventory.id}/instance_groups/`, id).expect(204);
    }
    const user = test.as.users.orgAdmin;
    await test.make.grant('instance_group', { id: groups[0]! }, 'use_role', { user });
    const { body } = await test.as.orgAdmin.post(path, { name: 'Copy' }).expect(201);
    expect(body).toMatchObject({ name: 'Copy', total_hosts: 2, total_groups: 2 });
    const preferred = await test.as.orgAdmin.get(`inventories/${body.id}/instance_groups/`);
    expect(preferred.body.results).toMatchObject([{ id: groups[0] }]);
    const query = 'script/?hostvars=1&all=1';
    const original = await test.as.orgAdmin.get(`inventories/${inventory.id}/${query}`);
    const copied = await test.as.orgAdmin.get(`inventories/${body.id}/${query}`);
    expect(copied.body).toEqual(original.body);
  });
});

describe('the deletion of an inventory', () => {
  const remove = (id: number) => removeInventory(test, id);

  it('waits for a deletion of the organization, which deletes the same hosts', async () => {
    const { make, as, database } = test;
    const inventory = await make.inventory(ofHome());
    const { id } = await make.host(inventory);
    await as.superuser.delete(`inventories/${inventory.id}/`).expect(202);
    await interleave(database, [
      () => database.execute(sql`SELECT 1 FROM inventories WHERE id = ${inventory.id} FOR UPDATE`),
      () => remove(inventory.id),
      () => database.execute(sql`SELECT 1 FROM hosts WHERE id = ${id} FOR UPDATE NOWAIT`),
    ]);
  });

  it('hides the inventory immediately and removes the rows later', async () => {
    const { make, as, database, home } = test;
    const inventory = await make.inventory(ofHome());
    await make.hosts(inventory, 2500);
    await make.group(inventory);
    const host = await make.host(inventory);
    await database.execute(sql`
      INSERT INTO unified_job_templates (type, name, inventory_id)
      VALUES ('job_template', 'Uses it', ${inventory.id})`);
    const path = `inventories/${inventory.id}/`;
    await as.nobody.delete(path).expect(403);
    expect((await as.orgAdmin.delete(path).expect(202)).body).toEqual({});
    const again = await as.orgAdmin.delete(path).expect(400);
    expect(again.body).toEqual({ detail: 'Inventory is already pending deletion.' });
    expect((await as.orgAdmin.get(path).expect(200)).body.pending_deletion).toBe(true);
    expect((await as.orgAdmin.get(`inventories/?name=${String(inventory.name)}`)).body.count).toBe(
      0,
    );
    await as.orgAdmin.patch(path, { description: 'x' }).expect(400);
    const copied = await as.orgAdmin.post(`${path}copy/`, { name: 'Copy of a part' }).expect(400);
    expect(copied.body).toEqual(again.body);
    const label = { name: 'late', organization: home.organization.id };
    await as.orgAdmin.post(`${path}labels/`, label).expect(400, again.body);
    const group = await database.row<Row>(sql`SELECT id FROM instance_groups LIMIT 1`);
    await as.superuser.post(`${path}instance_groups/`, { id: group!.id }).expect(400, again.body);
    await as.orgAdmin.post('hosts/', { name: 'late', inventory: inventory.id }).expect(400);
    const changed = await as.orgAdmin.patch(`hosts/${host.id}/`, { description: 'x' }).expect(400);
    expect(changed.body.detail).toBe('The inventory for this host is already being deleted.');
    await as.orgAdmin.delete(`hosts/${host.id}/`).expect(400);
    const free = await database.row(sql`
      SELECT inventory_id FROM unified_job_templates WHERE name = 'Uses it'`);
    expect(free).toEqual({ inventory_id: null });

    await remove(inventory.id);
    await remove(inventory.id);
    await as.orgAdmin.get(path).expect(404);
    const left = await database.row(sql`
      SELECT (SELECT count(*)::int FROM hosts WHERE inventory_id = ${inventory.id}) AS hosts,
        (SELECT count(*)::int FROM outbox WHERE queue = 'deletions'
          AND subject_id = ${inventory.id}) AS work,
        (SELECT changes -> 'coalesced_data' ->> 'hosts_deleted' FROM activity_stream
          WHERE operation = 'delete' AND object1 = 'inventory' AND object1_id = ${inventory.id}) AS noted`);
    expect(left).toEqual({ hosts: 0, work: 0, noted: '2501' });
  });

  it('waits for jobs that use it', async () => {
    const inventory = await test.make.inventory(ofHome());
    const job = await test.database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, inventory_id)
      VALUES ('job', 'Runs', 'running', ${inventory.id}) RETURNING id`);
    const { body } = await test.as.orgAdmin.delete(`inventories/${inventory.id}/`).expect(409);
    expect(body).toEqual(inUse({ id: job!.id, type: 'job' }));
  });

  it('refuses a launch that began before it', async () => {
    const { as, database, make } = test;
    const inventory = await make.inventory(ofHome());
    const template = await make.jobTemplate({ inventory: inventory.id });
    let answer = { status: 0, body: {} };
    await interleave(database, [
      () => database.execute(sql`SELECT 1 FROM inventories WHERE id = ${inventory.id} FOR UPDATE`),
      async () => (answer = await as.superuser.post(`job_templates/${template.id}/launch/`, {})),
      () =>
        database.execute(sql`
          UPDATE inventories SET pending_deletion = true WHERE id = ${inventory.id}`),
    ]);
    expect(answer.body).toEqual({
      inventory: ['The inventory associated with this Job Template is being deleted.'],
    });
    expect(answer.status).toBe(400);
  });

  it('never removes an inventory that was not deleted', async () => {
    const inventory = await test.make.inventory(ofHome());
    await remove(inventory.id);
    await test.as.orgAdmin.get(`inventories/${inventory.id}/`).expect(200);
  });

  it('needs a constant number of statements in the request', async () => {
    const [small, large] = [
      await test.make.inventory(ofHome()),
      await test.make.inventory(ofHome()),
    ];
    await test.make.hosts(large, 1000);
    const cost = (row: Row) =>
      countQueries(test.database, () =>
        test.as.orgAdmin.delete(`inventories/${row.id}/`).expect(202),
      );
    await cost(await test.make.inventory(ofHome()));
    expect(await cost(large)).toBe(await cost(small));
  });
});
