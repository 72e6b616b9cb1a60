import type { Row } from '../../src/common/resource/define-resource.js';
import { Database } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';
import { inUse } from '../support/in-use.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import type { PersonaName } from '../support/personas.js';
import { countQueries, sameQueries } from '../support/queries.js';

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot({ settings: { BULK_HOST_MAX_CREATE: '60', BULK_HOST_MAX_DELETE: '60' } });
});
afterAll(() => test.close());
beforeEach(async () => {
  inventory = await test.make.inventory({ organization: test.home.organization.id });
});

const create = (hosts: unknown, extra: object = {}, query = '') =>
  test.as.orgAdmin.post(`bulk/host_create/${query}`, { inventory: inventory.id, hosts, ...extra });
const remove = (hosts: unknown, query = '') =>
  test.as.orgAdmin.post(`bulk/host_delete/${query}`, { hosts });
const names = (count: number, prefix = 'host') =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}-${index}` }));
const hostCount = async (): Promise<number> => {
  const row = await test.database.row<{ hosts: number }>(
    sql`SELECT count(*)::int AS hosts FROM hosts WHERE inventory_id = ${inventory.id}`,
  );
  return row!.hosts;
};
const setKind = (kind: string) =>
  test.database.execute(sql`UPDATE inventories SET kind = ${kind} WHERE id = ${inventory.id}`);
const activity = (): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    SELECT operation, changes FROM activity_stream
    WHERE object1 = 'inventory' AND object1_id = ${inventory.id} AND operation <> 'create'
    ORDER BY id`);

describe('the list of bulk operations', () => {
  it('lists the operations with their descriptions', async () => {
    const { body } = await test.as.nobody.get('bulk/').expect(200);
    expect(body).toMatchObject({
      host_create: '/api/v2/bulk/host_create/',
      host_delete: '/api/v2/bulk/host_delete/',
    });
    expect((await test.as.nobody.get('bulk/host_create/').expect(200)).body).toEqual({
      detail: 'Bulk create hosts with this endpoint',
    });
    expect((await test.as.nobody.get('bulk/host_delete/').expect(200)).body).toEqual({
      detail: 'Bulk delete hosts with this endpoint',
    });
    await test.as.nobody.post('bulk/', {}).expect(405);
    await test.as.anonymous.post('bulk/host_create/', {}).expect(401);
  });
});

describe('creating hosts', () => {
  it('returns the hosts in the order of the request', async () => {
    const { body, headers } = await create([
      { name: 'b', variables: 'a: 1', enabled: false, instance_id: 'x', description: 'one' },
      { name: 'a:2222', variables: { b: 2 } },
    ]).expect(201);
    const [first, second] = body.hosts;
    const path = `/api/v2/inventories/${inventory.id}/`;
    expect(body.url).toBe(path);
    expect(headers.location).toBe(path);
    expect(first).toEqual({
      id: expect.any(Number),
      name: 'b',
      description: 'one',
      enabled: false,
      instance_id: 'x',
      variables: 'a: 1',
      url: `/api/v2/hosts/${first.id}/`,
      inventory: inventory.id,
    });
    expect(second.name).toBe('a');
    expect(JSON.parse(second.variables)).toEqual({ b: 2, ansible_ssh_port: 2222 });
    const stored = await test.as.orgAdmin.get(`hosts/${first.id}/`).expect(200);
    expect(stored.body).toMatchObject({ name: 'b', enabled: false, variables: 'a: 1' });
    const counted = await test.as.orgAdmin.get(`inventories/${inventory.id}/`);
    expect(counted.body.total_hosts).toBe(2);
    const entries = await activity();
    expect(entries).toMatchObject([{ operation: 'update', changes: { total_hosts: [0, 2] } }]);
  });

  it('reports all errors together, by index', async () => {
    const hosts = [{ name: 'ok' }, {}, 'x', { name: 'h:99999', enabled: 'maybe' }];
    const { body } = await create([
      ...hosts,
      { name: 'v', variables: '[1]' },
      { name: '\u0000' },
    ]).expect(400);
    expect(body.hosts).toMatchObject({
      1: { name: ['This field is required.'] },
      2: { __all__: ['Invalid data. Expected a dictionary, but got str.'] },
      3: {
        name: ['Invalid port specification: 99999'],
        enabled: ['Must be a valid boolean.'],
      },
      4: { variables: [expect.stringMatching(/^Cannot parse as JSON/)] },
      5: { name: ['Null characters are not allowed.'] },
    });
    expect(Object.keys(body.hosts)).toHaveLength(5);
    expect(await hostCount()).toBe(0);
  });

  it.each([
    [{}, { inventory: ['This field is required.'], hosts: ['This field is required.'] }],
    [
      { inventory: 'x', hosts: {} },
      {
        inventory: ['Incorrect type. Expected pk value, received str.'],
        hosts: ['Expected a list of items but got type "dict".'],
      },
    ],
    [{ inventory: 1, hosts: [] }, { hosts: ['This list may not be empty.'] }],
  ])('refuses %j', async (body, errors) => {
    const answer = await test.as.superuser.post('bulk/host_create/', body).expect(400);
    expect(answer.body).toEqual(errors);
  });

  it('refuses names that repeat in the request or exist in the inventory', async () => {
    await test.make.host(inventory, { name: 'old' });
    await test.make.group(inventory, { name: 'group' });
    const hosts = ['a', 'b', 'a', 'old', 'group'].map((name) => ({ name }));
    const { body } = await create(hosts).expect(400);
    expect(body).toEqual({
      __all__: [
        'Hostnames must be unique in an inventory. Duplicates found: a, old',
        'A Group with that name already exists. Duplicates found: group',
      ],
    });
    expect(await hostCount()).toBe(1);
  });

  it('accepts exactly as many hosts as the setting permits', async () => {
    await create(names(60)).expect(201);
    expect((await create(names(61, 'more')).expect(400)).body).toEqual({
      __all__: [
        'Number of hosts exceeds system setting BULK_HOST_MAX_CREATE: 61 sent, 60 allowed.',
      ],
    });
  });

  it('applies a setting that changes at run time', async () => {
    await test.as.superuser.patch('settings/bulk/', { BULK_HOST_MAX_CREATE: 1 }).expect(200);
    await create(names(2)).expect(400);
    await create(names(1)).expect(201);
    await test.as.superuser.delete('settings/bulk/').expect(204);
    await create(names(2, 'again')).expect(201);
  });

  it('applies the host limit of the organization', async () => {
    const organization = await test.make.organization({ max_hosts: 2 });
    const own = await test.make.inventory({ organization: organization.id });
    const send = (hosts: object[]) =>
      test.as.superuser.post('bulk/host_create/', { inventory: own.id, hosts });
    expect((await send(names(3)).expect(403)).body.detail).toContain('maximum number of 2 hosts');
    await send(names(2)).expect(201);
  });

  it.each<[PersonaName, number]>([
    ['superuser', 201],
    ['orgAdmin', 201],
    ['orgMember', 400],
    ['auditor', 400],
    ['teamMember', 400],
    ['outsider', 400],
  ])('by %s returns %i', async (persona, status) => {
    const body = { inventory: inventory.id, hosts: names(1) };
    const answer = await test.as[persona].post('bulk/host_create/', body).expect(status);
    if (status === 400) {
      expect(answer.body).toEqual({
        inventory: [`Invalid pk "${inventory.id}" - object does not exist.`],
        __all__: [`Inventory with id ${inventory.id} not found or lack permissions to add hosts.`],
      });
    }
  });

  it.each(['admin_role', 'use_role', 'adhoc_role', 'update_role', 'read_role'])(
    'requires the admin role, and refuses %s',
    async (role) => {
      const user = await test.make.user();
      await test.make.grant('inventory', inventory, role, { user });
      const client = await test.as.asUser(user);
      await client
        .post('bulk/host_create/', { inventory: inventory.id, hosts: names(1) })
        .expect(role === 'admin_role' ? 201 : 400);
    },
  );

  it('is permitted to inventory administrators of the organization', async () => {
    const user = await test.make.user();
    await test.make.grant('organization', test.home.organization, 'inventory_admin_role', { user });
    const client = await test.as.asUser(user);
    await client
      .post('bulk/host_create/', { inventory: inventory.id, hosts: names(1) })
      .expect(201);
  });

  it.each(['smart', 'constructed'])('refuses %s inventories', async (kind) => {
    await setKind(kind);
    expect((await create(names(1)).expect(400)).body).toEqual({
      __all__: [
        'Hosts can only be created in manual inventories (not smart or constructed types).',
      ],
    });
    expect(await hostCount()).toBe(0);
  });

  it('responds alike for unknown and unauthorized inventories', async () => {
    const body = { inventory: 999_999, hosts: names(1) };
    expect((await test.as.superuser.post('bulk/host_create/', body).expect(400)).body).toEqual({
      inventory: ['Invalid pk "999999" - object does not exist.'],
      __all__: ['Inventory with id 999999 not found or lack permissions to add hosts.'],
    });
  });

  it('writes nothing in a dry run', async () => {
    const { body } = await create(names(2), {}, '?dry_run=1').expect(200);
    expect(body).toMatchObject({ dry_run: true, hosts: [{ id: null, name: 'host-0' }, {}] });
    expect(await hostCount()).toBe(0);
    expect(await activity()).toEqual([]);
    await create([{}], {}, '?dry_run=1').expect(400);
  });

  it('returns the first response for a repeated key', async () => {
    const client = test.as.orgAdmin.with({ 'Idempotency-Key': `bulk ${inventory.id}` });
    const body = { inventory: inventory.id, hosts: names(2) };
    const first = await client.post('bulk/host_create/', body).expect(201);
    const again = await client.post('bulk/host_create/', body).expect(201);
    expect(again.body).toEqual(first.body);
    await client.post('bulk/host_create/', { ...body, hosts: names(1) }).expect(409);
    expect(await hostCount()).toBe(2);
  });

  it('accepts one of two simultaneous requests for the same name', async () => {
    const holder = new Database(test.database.dataSource);
    const waiting = sql`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const answers = await holder.transaction(async () => {
      await holder.execute(sql`SELECT 1 FROM inventories WHERE id = ${inventory.id} FOR UPDATE`);
      const sent = [create(names(3)), create(names(3))].map((one) => one.then((reply) => reply));
      await eventually(async () => expect(await test.database.execute(waiting)).toBe(2));
      return sent;
    });
    const replies = await Promise.all(answers);
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await hostCount()).toBe(3);
  });

  it('sends the same statements for one host as for fifty', async () => {
    const one = () => create(names(1, 'one')).expect(201);
    const many = () => create(names(50, 'many')).expect(201);
    // The first request of a token records that the token is used.
    await create(names(1, 'first')).expect(201);
    await sameQueries(test.database, one, many);
    expect(await countQueries(test.database, () => create(names(2, 'two')))).toBeLessThanOrEqual(8);
  });

  it('refuses a body larger than a megabyte', async () => {
    const hosts = [{ name: 'big', variables: `a: ${'x'.repeat(1_100_000)}` }];
    const { body } = await create(hosts).expect(413);
    expect(body).toEqual({ detail: 'The request body is larger than 1048576 bytes.' });
  });
});

describe('deleting hosts', () => {
  it('accepts hosts of several inventories, each id once', async () => {
    const other = await test.make.inventory({ organization: test.home.organization.id });
    const one = await test.make.host(inventory, { name: 'one' });
    const two = await test.make.host(other, { name: 'two' });
    const { body } = await remove([one.id, two.id, `${one.id}`]).expect(201);
    expect(body).toEqual({
      deleted: 2,
      hosts: { [one.id]: 'The host one was deleted', [two.id]: 'The host two was deleted' },
    });
    expect(await hostCount()).toBe(0);
    expect((await activity()).at(-1)).toMatchObject({
      operation: 'update',
      changes: { total_hosts: [1, 0], hosts_deleted: [{ host_id: one.id, host_name: 'one' }] },
    });
  });

  it.each([
    [undefined, ['This field is required.']],
    [[], ['This list may not be empty.']],
    ['x', ['Expected a list of items but got type "str".']],
    [
      [1, 'x', 0, 2 ** 40],
      {
        1: ['A valid integer is required.'],
        2: ['Ensure this value is greater than or equal to 1.'],
        3: ['Ensure this value is less than or equal to 2147483647.'],
      },
    ],
  ])('refuses %j', async (hosts, errors) => {
    expect((await remove(hosts).expect(400)).body).toEqual({ hosts: errors });
  });

  it('responds alike for unknown and unreadable hosts', async () => {
    const far = await test.make.inventory({ organization: test.home.otherOrganization.id });
    const foreign = await test.make.host(far);
    const own = await test.make.host(inventory);
    const { body } = await remove([own.id, foreign.id, 999_999]).expect(400);
    const text = ['Hosts do not exist or you lack permission to delete it'];
    expect(body).toEqual({ hosts: { [foreign.id]: text, 999_999: text } });
    expect(await hostCount()).toBe(1);
  });

  it('refuses hosts that the caller may only read', async () => {
    const host = await test.make.host(inventory);
    const { body } = await test.as.auditor
      .post('bulk/host_delete/', { hosts: [host.id] })
      .expect(403);
    expect(body).toEqual({
      detail: `Lack permissions to delete hosts from this inventory: ${String(inventory.name)}`,
    });
  });

  it('deletes nothing if the caller may only read one of the inventories', async () => {
    const far = await test.make.inventory({ organization: test.home.otherOrganization.id });
    await test.make.grant('inventory', far, 'read_role', { user: test.as.users.orgAdmin });
    const foreign = await test.make.host(far);
    const own = await test.make.host(inventory);
    const { body } = await remove([own.id, foreign.id]).expect(403);
    expect(body.detail).toContain(String(far.name));
    expect(body.detail).not.toContain(String(inventory.name));
    expect(await hostCount()).toBe(1);
  });

  it.each(['smart', 'constructed'])('refuses hosts of %s inventories', async (kind) => {
    const host = await test.make.host(inventory);
    await setKind(kind);
    expect((await remove([host.id]).expect(400)).body).toEqual({
      __all__: ['Hosts can only be deleted from manual inventories.'],
    });
    expect(await hostCount()).toBe(1);
  });

  it('creates one activity entry for each inventory', async () => {
    const other = await test.make.inventory({ organization: test.home.organization.id });
    const ids = [...(await test.make.hosts(inventory, 2)), ...(await test.make.hosts(other, 1))];
    const newest = await test.database.row<Row>(sql`SELECT max(id) AS id FROM activity_stream`);
    await remove(ids).expect(201);
    const entries = await test.database.rows<Row>(sql`
      SELECT operation, object1, object1_id FROM activity_stream
      WHERE id > ${newest!.id} ORDER BY object1_id`);
    expect(entries).toEqual(
      [inventory.id, other.id]
        .sort((one, two) => one - two)
        .map((id) => ({ operation: 'update', object1: 'inventory', object1_id: id })),
    );
  });

  it('refuses hosts of running jobs', async () => {
    const host = await test.make.host(inventory);
    const job = await test.database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, inventory_id)
      VALUES ('job', 'busy', 'running', ${inventory.id}) RETURNING id`);
    expect((await remove([host.id]).expect(409)).body).toEqual(inUse({ id: job!.id, type: 'job' }));
  });

  it('accepts as many distinct ids as the setting permits', async () => {
    const ids = await test.make.hosts(inventory, 61);
    expect((await remove(ids).expect(400)).body).toEqual({
      __all__: [
        'Number of hosts exceeds system setting BULK_HOST_MAX_DELETE: 61 sent, 60 allowed.',
      ],
    });
    await remove([...ids.slice(0, 60), ids[0]]).expect(201);
    expect(await hostCount()).toBe(1);
  });

  it('deletes nothing in a dry run', async () => {
    const host = await test.make.host(inventory, { name: 'stays' });
    expect((await remove([host.id], '?dry_run=1').expect(200)).body).toEqual({
      dry_run: true,
      deleted: 1,
      hosts: { [host.id]: 'The host stays would be deleted' },
    });
    expect(await hostCount()).toBe(1);
  });

  it('sends the same statements for one host as for fifty', async () => {
    const [first, ...ids] = await test.make.hosts(inventory, 53);
    // The first request of a token records that the token is used.
    await remove([first!]).expect(201);
    const one = () => remove(ids.slice(0, 1)).expect(201);
    const many = () => remove(ids.slice(1, 51)).expect(201);
    await sameQueries(test.database, one, many);
    const last = () => remove(ids.slice(51)).expect(201);
    expect(await countQueries(test.database, last)).toBeLessThanOrEqual(9);
  });
});
