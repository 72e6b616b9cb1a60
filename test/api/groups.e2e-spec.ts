import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { PersonaName } from '../support/personas.js';

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
  inventory = await test.make.inventory({ organization: test.home.organization.id });
});
afterAll(() => test.close());

const names = (body: { results: { name: string }[] }) => body.results.map(({ name }) => name);

/** Creates groups from `parent > child` lines, each name once. */
async function graph(where: Row, ...lines: string[]): Promise<Record<string, Row>> {
  const groups: Record<string, Row> = {};
  for (const line of lines) {
    const [parent = '', child] = line.split(' > ');
    for (const name of [parent, child]) {
      if (name) groups[name] ??= await test.make.group(where, { name });
    }
    if (!child) continue;
    const path = `groups/${groups[parent]!.id}/children/`;
    await test.as.superuser.post(path, { id: groups[child]!.id }).expect(204);
  }
  return groups;
}

const put = (group: Row, host: Row) =>
  test.as.superuser.post(`groups/${group.id}/hosts/`, { id: host.id }).expect(204);

it.each(['all', '_meta', 'ungrouped'])('a group cannot have the name %s', async (name) => {
  const { body } = await test.as.orgAdmin
    .post('groups/', { name, inventory: inventory.id })
    .expect(400);
  expect(body).toEqual({ name: ['Invalid group name.'] });
});

it('a group cannot have the name of a host, and keeps its inventory', async () => {
  await test.make.host(inventory, { name: 'h1' });
  const group = await test.make.group(inventory, { name: 'g1' });
  const clash = { __all__: ['A Host with that name already exists.'] };
  const path = `groups/${group.id}/`;
  expect((await test.as.orgAdmin.patch(path, { name: 'h1' }).expect(400)).body).toEqual(clash);
  const body = { name: 'h1', inventory: inventory.id };
  expect((await test.as.orgAdmin.post('groups/', body).expect(400)).body).toEqual(clash);
  const other = await test.make.inventory({ organization: test.home.organization.id });
  const moved = await test.as.orgAdmin.patch(path, { inventory: other.id }).expect(200);
  expect(moved.body.inventory).toBe(inventory.id);
});

it.each<[PersonaName, number, number]>([
  ['superuser', 200, 204],
  ['auditor', 200, 403],
  ['orgAdmin', 200, 204],
  ['orgMember', 403, 403],
  ['teamMember', 200, 403],
  ['outsider', 403, 403],
])('%s: read %i, attach and delete %i', async (name, read, change) => {
  await test.make.grant('inventory', inventory, 'read_role', { team: test.home.team });
  const group = await test.make.group(inventory);
  const child = await test.make.group(inventory);
  const client = test.as[name];
  await client.get(`groups/${group.id}/`).expect(read);
  await client.get(`groups/${group.id}/all_hosts/`).expect(read);
  await client.post(`groups/${group.id}/children/`, { id: child.id }).expect(change);
  await client
    .post(`groups/${group.id}/hosts/`, { name: `of-${name}` })
    .expect(change === 204 ? 201 : 403);
  await client.delete(`groups/${group.id}/`).expect(change);
});

describe('hosts', () => {
  it('are attached by their name if the request has no other values', async () => {
    const { superuser } = test.as;
    const group = await test.make.group(inventory);
    const url = `groups/${group.id}/hosts/`;
    const host = await test.make.host(inventory, { name: 'known', variables: 'a: 1' });
    for (const variables of [undefined, null, '', '{}', '---\n', {}]) {
      await superuser.post(url, { name: 'known', variables }).expect(204);
      const { body } = await superuser.get(url).expect(200);
      expect(names(body)).toEqual(['known']);
      await superuser.post(url, { id: host.id, disassociate: true }).expect(204);
    }
    expect((await superuser.get(`hosts/${host.id}/`).expect(200)).body.variables).toBe('a: 1');
    const { body } = await superuser.post(url, { name: 'known', variables: 'b: 1' }).expect(400);
    expect(body).toEqual({ __all__: ['Host with this Name and Inventory already exists.'] });
    await superuser.post(url, { name: 'new' }).expect(201);
    await test.as.nobody.post(url, { name: 'known' }).expect(403);
    await superuser.post(url, { name: ['known'] }).expect(400);
  });

  it('and subgroups are not detached without an id', async () => {
    const group = await test.make.group(inventory);
    for (const list of ['hosts', 'children']) {
      const url = `groups/${group.id}/${list}/`;
      const { body } = await test.as.superuser.post(url, { disassociate: true }).expect(400);
      expect(body).toEqual({ detail: '"id" is required to disassociate' });
    }
    await test.as.superuser.get(`groups/${group.id}/`).expect(200);
  });
});

describe('children', () => {
  it('never form a cycle', async () => {
    const { a, b, c } = await graph(inventory, 'a > b', 'b > c');
    for (const [parent, child] of [
      [c, a],
      [c, b],
      [a, a],
    ] as const) {
      const path = `groups/${parent!.id}/children/`;
      const { body } = await test.as.orgAdmin.post(path, { id: child!.id }).expect(400);
      expect(body).toEqual({ detail: 'Cyclical Group association.' });
    }
    await test.as.orgAdmin.post(`groups/${a!.id}/children/`, { id: c!.id }).expect(204);
  });

  it('never form a cycle by two simultaneous requests', async () => {
    const { m, n } = await graph(inventory, 'm', 'n');
    const answers = await Promise.all([
      test.as.orgAdmin.post(`groups/${m!.id}/children/`, { id: n!.id }),
      test.as.orgAdmin.post(`groups/${n!.id}/children/`, { id: m!.id }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400]);
  });

  it('come from the same inventory', async () => {
    const foreign = await test.make.group(await test.make.inventory());
    const own = await test.make.group(inventory);
    const { body } = await test.as.superuser
      .post(`groups/${own.id}/children/`, { id: foreign.id })
      .expect(400);
    expect(body).toEqual({ detail: 'Cannot associate two items from different inventories.' });
  });

  it('are found at every depth', async () => {
    const where = await test.make.inventory({ organization: test.home.organization.id });
    const { top, mid, low } = await graph(where, 'top > mid', 'mid > low', 'free');
    const host = await test.make.host(where, { name: 'deep' });
    await put(low!, host);
    const get = async (path: string) => names((await test.as.orgAdmin.get(path).expect(200)).body);
    expect(await get(`groups/${top!.id}/all_hosts/`)).toEqual(['deep']);
    expect(await get(`groups/${top!.id}/hosts/`)).toEqual([]);
    expect(await get(`hosts/${host.id}/all_groups/`)).toEqual(['low', 'mid', 'top']);
    expect(await get(`groups/${mid!.id}/potential_children/`)).toEqual(['free']);
    const made = await test.as.orgAdmin
      .post(`groups/${mid!.id}/children/`, { name: 'new' })
      .expect(201);
    expect(made.body.inventory).toBe(where.id);
    expect(await get(`groups/${mid!.id}/children/`)).toEqual(['low', 'new']);
  });
});

describe('the deletion of a group', () => {
  it('deletes its descendants that are in no other group', async () => {
    const where = await test.make.inventory({ organization: test.home.organization.id });
    const made = await graph(
      where,
      'gone > only',
      'gone > shared',
      'stays > shared',
      'only > leaf',
      'gone > leaf',
    );
    const hosts: Record<string, Row> = {};
    for (const name of ['lost', 'kept', 'free'])
      hosts[name] = await test.make.host(where, { name });
    await put(made.leaf!, hosts.lost!);
    await put(made.gone!, hosts.lost!);
    await put(made.only!, hosts.kept!);
    await put(made.shared!, hosts.kept!);
    await test.as.orgAdmin.delete(`groups/${made.gone!.id}/`).expect(204);
    const get = async (list: string) =>
      names((await test.as.orgAdmin.get(`inventories/${where.id}/${list}/`).expect(200)).body);
    expect(await get('groups')).toEqual(['shared', 'stays']);
    expect(await get('hosts')).toEqual(['free', 'kept']);
    const { body } = await test.as.orgAdmin.get(`inventories/${where.id}/`);
    expect(body).toMatchObject({ total_hosts: 2, total_groups: 2 });
    const noted = await test.database.rows(sql`
      SELECT object1_name FROM activity_stream
      WHERE operation = 'delete' AND object1_name IN ('gone', 'only', 'leaf', 'lost')
      ORDER BY object1_name`);
    expect(noted).toHaveLength(4);
  });

  it('waits for jobs that use the inventory', async () => {
    const busy = await test.make.inventory({ organization: test.home.organization.id });
    const group = await test.make.group(busy);
    await test.database.execute(sql`
      INSERT INTO unified_jobs (type, name, status, inventory_id)
      VALUES ('job', 'Runs', 'running', ${busy.id})`);
    await test.as.orgAdmin.delete(`groups/${group.id}/`).expect(409);
  });
});
