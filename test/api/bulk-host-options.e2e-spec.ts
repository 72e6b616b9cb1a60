import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { interleave } from '../support/interleave.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());
beforeEach(async () => {
  inventory = await test.make.inventory({ organization: test.home.organization.id });
});

const create = (hosts: object[], extra: object = {}, query = '') =>
  test.as.orgAdmin.post(`bulk/host_create/${query}`, { inventory: inventory.id, hosts, ...extra });
const update = { on_conflict: 'update' };
const activity = (): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    SELECT changes FROM activity_stream WHERE object1 = 'inventory' AND operation = 'update'
      AND object1_id = ${inventory.id} ORDER BY id DESC LIMIT 1`);
const members = (): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    SELECT g.name AS group_name, h.name AS host FROM group_hosts l
    JOIN groups g ON g.id = l.group_id JOIN hosts h ON h.id = l.host_id
    WHERE g.inventory_id = ${inventory.id} ORDER BY 1, 2`);

describe('groups of hosts that are created in bulk', () => {
  it('are created if they do not exist, and hosts are added to them', async () => {
    await test.make.group(inventory, { name: 'web' });
    const { body } = await create([
      { name: 'a', groups: ['web', 'new', 'web'] },
      { name: 'b', groups: ['new'] },
      { name: 'c' },
    ]).expect(201);
    expect(body.hosts).toMatchObject([{ groups: ['web', 'new'] }, { groups: ['new'] }, {}]);
    expect(body.hosts[2]).not.toHaveProperty('groups');
    expect(await members()).toEqual([
      { group_name: 'new', host: 'a' },
      { group_name: 'new', host: 'b' },
      { group_name: 'web', host: 'a' },
    ]);
    expect(await activity()).toMatchObject([
      { changes: { total_hosts: [0, 3], groups_created: ['new'] } },
    ]);
    const counted = await test.as.orgAdmin.get(`inventories/${inventory.id}/`).expect(200);
    expect(counted.body).toMatchObject({ total_hosts: 3, total_groups: 2 });
  });

  it.each([
    ['x', ['Expected a list of items but got type "str".']],
    [[''], ['This field may not be blank.']],
    [[{}], ['Not a valid string.']],
    [['all'], ['Invalid group name.']],
    [['g'.repeat(513)], ['Ensure this field has no more than 512 characters.']],
  ])('refuse %j', async (groups, texts) => {
    const { body } = await create([{ name: 'ok' }, { name: 'a', groups }]).expect(400);
    expect(body).toEqual({ hosts: { 1: { groups: texts } } });
    expect(await members()).toEqual([]);
  });

  it.each(['all', 'ungrouped', 'ungrouped:22'])('must not be hosts: %s', async (name) => {
    const { body } = await create([{ name: 'ok' }, { name }]).expect(400);
    expect(body).toEqual({ hosts: { 1: { name: ['Invalid host name.'] } } });
  });

  it('must not have the name of a host', async () => {
    await test.make.host(inventory, { name: 'old' });
    const { body } = await create([{ name: 'a', groups: ['b', 'old'] }, { name: 'b' }]).expect(400);
    expect(body).toEqual({
      __all__: ['A Host with that name already exists. Duplicates found: b, old'],
    });
  });

  it('need no additional statement for each host', async () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ name: `h${index}`, groups: ['x'] }));
    const one = await countQueries(test.database, () => create([{ name: 'one', groups: ['x'] }]));
    expect(await countQueries(test.database, () => create(many).expect(201))).toBe(one);
    expect(one).toBeLessThanOrEqual(9);
  });
});

describe('hosts that already exist', () => {
  it('change only in the fields of the request', async () => {
    const fields = { name: 'old', variables: 'a: 1', description: 'kept', enabled: false };
    const old = await test.make.host(inventory, fields);
    await test.make.host(inventory, { name: 'same', description: 'x' });
    const hosts = [
      { name: 'old', variables: { b: 2 }, groups: ['web'] },
      { name: 'same', description: 'x' },
      { name: 'new' },
    ];
    const { body } = await create(hosts, update).expect(201);
    expect(body).toMatchObject({ created: 1, updated: 1, unchanged: 1 });
    expect(body.hosts[0]).toMatchObject({
      id: old.id,
      variables: '{"b": 2}',
      description: 'kept',
      enabled: false,
    });
    expect(await members()).toEqual([{ group_name: 'web', host: 'old' }]);
    expect(await activity()).toMatchObject([
      { changes: { total_hosts: [2, 3], hosts_updated: 1, groups_created: ['web'] } },
    ]);
    const again = await create(hosts, update).expect(201);
    expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: 3 });
  });

  it('do not count against the limit of the organization', async () => {
    const organization = await test.make.organization({ max_hosts: 2 });
    const own = await test.make.inventory({ organization: organization.id });
    await test.make.host(own, { name: 'old' });
    const send = (names: string[]) =>
      test.as.superuser.post('bulk/host_create/', {
        inventory: own.id,
        hosts: names.map((name) => ({ name })),
        ...update,
      });
    await send(['old', 'new', 'more']).expect(403);
    await send(['old', 'new']).expect(201);
    await send(['old', 'new']).expect(201);
  });

  it('are reported and not changed in a dry run', async () => {
    const old = await test.make.host(inventory, {
      name: 'old',
      description: 'kept',
      variables: 'a: 1',
    });
    await test.make.host(inventory, { name: 'same', description: 'x' });
    const { body } = await create(
      [{ name: 'old', description: 'lost' }, { name: 'same', description: 'x' }, { name: 'new' }],
      update,
      '?dry_run=1',
    ).expect(200);
    expect(body).toMatchObject({
      ...{ dry_run: true, created: 1, updated: 1, unchanged: 1 },
      hosts: [
        { id: old.id, name: 'old', description: 'lost', variables: 'a: 1' },
        { name: 'same', description: 'x' },
        { id: null, url: null, name: 'new', description: '', enabled: true },
      ],
    });
    const { body: list } = await test.as.orgAdmin.get(`inventories/${inventory.id}/hosts/`);
    expect(list.results).toMatchObject([{ name: 'old', description: 'kept' }, { name: 'same' }]);
  });

  it('need the variables for a name with a port, because the port would replace them', async () => {
    await create([{ name: 'web', variables: { a: 1 } }]).expect(201);
    const { body } = await create([{ name: 'web:2222' }], update).expect(400);
    expect(body).toEqual({ hosts: { 0: { variables: [expect.stringContaining('has a port')] } } });
    const variables = { a: 1, b: 2 };
    const updated = await create([{ name: 'web:2222', variables }], update).expect(201);
    expect(JSON.parse(updated.body.hosts[0].variables)).toEqual({
      ...variables,
      ansible_ssh_port: 2222,
    });
  });

  it('are refused without that option, and always if repeated in one request', async () => {
    await test.make.host(inventory, { name: 'old' });
    await create([{ name: 'old' }]).expect(400);
    await create([{ name: 'a' }, { name: 'a' }], update).expect(400);
    const { body } = await create([{ name: 'a' }], { on_conflict: 'replace' }).expect(400);
    expect(body).toEqual({ on_conflict: ['"replace" is not a valid choice.'] });
  });
});

it('an inventory that is being deleted accepts no requests and no dry runs', async () => {
  const host = await test.make.host(inventory);
  await test.database.execute(
    sql`UPDATE inventories SET pending_deletion = true WHERE id = ${inventory.id}`,
  );
  for (const query of ['', '?dry_run=1']) {
    const refused = { detail: 'The inventory for this host is already being deleted.' };
    const removal = test.as.orgAdmin.post(`bulk/host_delete/${query}`, { hosts: [host.id] });
    expect((await removal.expect(400)).body).toEqual(refused);
    expect((await create([{ name: 'new' }], {}, query).expect(400)).body).toEqual(refused);
  }
});

it('a new group cannot have the name of a host that another request has just created', async () => {
  const { database, make } = test;
  await interleave(database, [
    () => database.execute(sql`SELECT 1 FROM inventories WHERE id = ${inventory.id} FOR UPDATE`),
    async () => {
      const { body } = await create([{ name: 'web', groups: ['db'] }]).expect(409);
      expect(body).toEqual({ detail: 'Another request has just taken these names: db' });
    },
    () => make.host(inventory, { name: 'db' }),
  ]);
});
