import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { JobHostSummariesRepository } from '../../src/runs/events/job-host-summaries.repository.js';
import { inUse } from '../support/in-use.js';
import { boot, type TestApp } from '../support/boot.js';
import type { PersonaName } from '../support/personas.js';
import { countQueries, samePageQueries } from '../support/queries.js';

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
  inventory = await test.make.inventory({ organization: test.home.organization.id });
});
afterAll(() => test.close());

const add = (fields: object) =>
  test.as.orgAdmin.post('hosts/', { inventory: inventory.id, ...fields });

describe('names', () => {
  it('may contain a port, which becomes a variable', async () => {
    const { body } = await add({ name: 'web:2222', variables: 'a: 1' }).expect(201);
    expect(body.name).toBe('web');
    expect(JSON.parse(body.variables)).toEqual({ a: 1, ansible_ssh_port: 2222 });
    const changed = await test.as.orgAdmin
      .patch(`hosts/${body.id}/`, { name: 'www:22' })
      .expect(200);
    expect(changed.body.name).toBe('www');
    expect(JSON.parse(changed.body.variables)).toEqual({ a: 1, ansible_ssh_port: 22 });
  });

  it.each([
    ['db:ssh', 'Invalid port specification: ssh'],
    ['db:0', 'Invalid port specification: 0'],
    ['db:65536', 'Invalid port specification: 65536'],
    [':22', 'This field may not be blank.'],
    ['all', 'Invalid host name.'],
    ['ungrouped', 'Invalid host name.'],
    ['all:22', 'Invalid host name.'],
  ])('must not be %j', async (name, text) => {
    expect((await add({ name }).expect(400)).body).toEqual({ name: [text] });
    const { id } = await test.make.host(inventory);
    const changed = await test.as.orgAdmin.patch(`hosts/${id}/`, { name }).expect(400);
    expect(changed.body).toEqual({ name: [text] });
  });

  it('may be an address with colons', async () => {
    expect((await add({ name: 'fe80::1' }).expect(201)).body).toMatchObject({
      name: 'fe80::1',
      variables: '',
    });
  });

  it('are unique among the hosts and groups of an inventory', async () => {
    await test.make.group(inventory, { name: 'dbs' });
    await test.make.host(inventory, { name: 'one' });
    const { id } = await test.make.host(inventory, { name: 'two' });
    const clash = { __all__: ['A Group with that name already exists.'] };
    expect((await add({ name: 'dbs' }).expect(400)).body).toEqual(clash);
    expect(
      (await test.as.orgAdmin.patch(`hosts/${id}/`, { name: 'dbs' }).expect(400)).body,
    ).toEqual(clash);
    expect((await add({ name: 'one' }).expect(400)).body).toEqual({
      __all__: ['Host with this Name and Inventory already exists.'],
    });
    const elsewhere = await test.make.inventory({ organization: test.home.organization.id });
    await add({ name: 'dbs', inventory: elsewhere.id }).expect(201);
  });

  it('cannot be used twice by simultaneous requests', async () => {
    const asHost = add({ name: 'contested' });
    const asGroup = test.as.orgAdmin.post('groups/', {
      name: 'contested',
      inventory: inventory.id,
    });
    const answers = await Promise.all([asHost, asGroup]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  });
});

it('a host stays in its inventory, whichever inventory the request contains', async () => {
  const host = await test.make.host(inventory);
  const other = await test.make.inventory({ organization: test.home.organization.id });
  for (const sent of [other.id, inventory.id, { id: other.id }, 'elsewhere', null]) {
    const change = { inventory: sent, description: 'changed' };
    const { body } = await test.as.orgAdmin.patch(`hosts/${host.id}/`, change).expect(200);
    expect(body).toMatchObject({ inventory: inventory.id, description: 'changed' });
  }
  await test.as.orgAdmin.post('hosts/', { name: 'nowhere' }).expect(400);
});

it('the limit of the organization applies', async () => {
  const organization = await test.make.organization({ max_hosts: 2 });
  const small = await test.make.inventory({ organization: organization.id });
  await test.make.hosts(small, 2);
  const { body } = await test.as.superuser
    .post('hosts/', { name: 'third', inventory: small.id })
    .expect(403);
  expect(body.detail).toBe(
    'You have already reached the maximum number of 2 hosts allowed for your organization. Contact your System Administrator for assistance.',
  );
});

it.each<[PersonaName, number, number]>([
  ['superuser', 200, 204],
  ['auditor', 200, 403],
  ['orgAdmin', 200, 204],
  ['orgMember', 403, 403],
  ['teamAdmin', 200, 403],
  ['outsider', 403, 403],
])('%s: read %i, delete %i', async (name, read, remove) => {
  await test.make.grant('inventory', inventory, 'adhoc_role', { team: test.home.team });
  const host = await test.make.host(inventory);
  await test.as[name].get(`hosts/${host.id}/`).expect(read);
  await test.as[name].get(`hosts/${host.id}/groups/`).expect(read);
  await test.as[name].get(`hosts/${host.id}/variable_data/`).expect(read);
  const change = remove === 204 ? 200 : 403;
  await test.as[name].patch(`hosts/${host.id}/variable_data/`, { a: 1 }).expect(change);
  await test.as[name].delete(`hosts/${host.id}/`).expect(remove);
});

it('a host cannot be deleted while a job uses it', async () => {
  const busy = await test.make.inventory({ organization: test.home.organization.id });
  const host = await test.make.host(busy);
  const job = await test.database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, inventory_id)
    VALUES ('job', 'Runs', 'waiting', ${busy.id}) RETURNING id`);
  const { body } = await test.as.orgAdmin.delete(`hosts/${host.id}/`).expect(409);
  expect(body).toEqual(inUse({ id: job!.id, type: 'job' }));
});

it('a host keeps its enabled flag if the request contains null', async () => {
  const { id } = await test.make.host(inventory);
  const path = `hosts/${id}/`;
  for (const enabled of [true, false]) {
    await test.as.orgAdmin.patch(path, { enabled }).expect(200);
    expect((await test.as.orgAdmin.patch(path, { enabled: null })).body.enabled).toBe(enabled);
  }
  const body = { name: 'unset', inventory: inventory.id, enabled: null };
  expect((await test.as.orgAdmin.post('hosts/', body).expect(201)).body.enabled).toBe(true);
});

describe('variable_data', () => {
  it('returns the variables as an object', async () => {
    const host = await test.make.host(inventory, { variables: 'a: 1\nb: [x]' });
    const path = `hosts/${host.id}/variable_data/`;
    expect((await test.as.orgAdmin.get(path)).body).toEqual({ a: 1, b: ['x'] });
    expect((await test.as.orgAdmin.patch(path, { a: 2 })).body).toEqual({ a: 2, b: ['x'] });
    expect((await test.as.orgAdmin.put(path, { c: null })).body).toEqual({ c: null });
    expect((await test.as.orgAdmin.get(`hosts/${host.id}/`)).body.variables).toBe('{"c": null}');
    await test.as.orgAdmin.put(path, '{"__proto__": {"x": 1}}').expect(400);
    await test.as.orgAdmin.put(path, '["a"]').expect(400);
  });

  it('refuses stored variables that cannot be parsed, until they are replaced', async () => {
    const host = await test.make.host(inventory);
    await test.database.execute(sql`
      UPDATE hosts SET variables = '{"__proto__": 1}' WHERE id = ${host.id}`);
    const path = `hosts/${host.id}/variable_data/`;
    await test.as.orgAdmin.get(path).expect(400);
    await test.as.orgAdmin.patch(path, { a: 1 }).expect(400);
    await test.as.orgAdmin.put(path, { a: 1 }).expect(200);
    expect((await test.as.orgAdmin.get(path)).body).toEqual({ a: 1 });
  });
});

describe('groups of a host', () => {
  it('are attached, created and detached', async () => {
    const { as, make } = test;
    const host = await make.host(inventory);
    const group = await make.group(inventory);
    const path = `hosts/${host.id}/groups/`;
    await as.orgAdmin.post(path, { id: group.id }).expect(204);
    await as.orgAdmin.post(path, { id: group.id }).expect(204);
    const made = await as.orgAdmin.post(path, { name: 'made here' }).expect(201);
    expect(made.body.inventory).toBe(inventory.id);
    const { body } = await as.orgAdmin.get(`hosts/${host.id}/`);
    expect(body.summary_fields.groups).toMatchObject({ count: 2 });
    await as.orgAdmin.post(path, { id: group.id, disassociate: true }).expect(204);
    expect((await as.orgAdmin.get(path)).body.count).toBe(1);
    await as.orgAdmin.get(`groups/${group.id}/`).expect(200);
    const foreign = await make.group(await make.inventory());
    const refused = await as.superuser.post(path, { id: foreign.id }).expect(400);
    expect(refused.body.detail).toBe('Cannot associate two items from different inventories.');
    await as.orgAdmin.post(path, { id: 987654 }).expect(400);
  });

  it('are at most five in the summary, with their total', async () => {
    const { as, make } = test;
    const host = await make.host(inventory);
    for (let number = 0; number < 7; number++) {
      const group = await make.group(inventory);
      await as.superuser.post(`hosts/${host.id}/groups/`, { id: group.id }).expect(204);
    }
    const { body } = await as.orgAdmin.get(`hosts/${host.id}/`);
    expect(body.summary_fields.groups.count).toBe(7);
    expect(body.summary_fields.groups.results).toHaveLength(5);
  });
});

it('the activity stream of a host includes its inventory', async () => {
  const host = await test.make.host(inventory);
  await test.as.orgAdmin.patch(`inventories/${inventory.id}/`, { description: 'new' }).expect(200);
  const { body } = await test.as.orgAdmin.get(`hosts/${host.id}/activity_stream/`).expect(200);
  const types = new Set(body.results.map(({ object1 }: { object1: string }) => object1));
  expect(types).toEqual(new Set(['host', 'inventory']));
});

it('a page of hosts needs a constant number of statements', async () => {
  const large = await test.make.inventory({ organization: test.home.organization.id });
  await test.make.hosts(large, 60);
  await samePageQueries(test.database, test.as.orgAdmin, `inventories/${large.id}/hosts/`, [1, 50]);
});

it('hosts that are renamed during a job show their own results', async () => {
  const { app, as, database, home, make } = test;
  const rack = await make.inventory({ organization: home.organization.id });
  const first = await make.host(rack, { name: 'one' });
  const second = await make.host(rack, { name: 'two' });
  const job = await database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, inventory_id)
    VALUES ('job', 'Ran', 'successful', ${rack.id}) RETURNING id`);
  await as.orgAdmin.patch(`hosts/${first.id}/`, { name: 'three' }).expect(200);
  await as.orgAdmin.patch(`hosts/${second.id}/`, { name: 'one' }).expect(200);
  const counts = { changed: 0, dark: 0, failures: 0, ok: 1, processed: 1, skipped: 0 };
  const good = { ...counts, ignored: 0, rescued: 0, failed: false };
  await app.get(JobHostSummariesRepository, { strict: false }).store(
    job!.id,
    new Map([
      ['one', { ...good, failures: 1, failed: true }],
      ['two', good],
    ]),
    {
      hosts: new Map([
        ['one', first.id],
        ['two', second.id],
      ]),
      originals: null,
    },
  );
  const { body } = await as.superuser.get(`jobs/${job!.id}/job_host_summaries/`).expect(200);
  const shown = (body.results as Row[]).map(({ host, host_name: name }) => [host, name]);
  expect(shown.sort()).toEqual([
    [first.id, 'one'],
    [second.id, 'two'],
  ]);
  for (const [{ id }, hasFailed] of [
    [first, true],
    [second, false],
  ] as const) {
    const { body: host } = await as.orgAdmin.get(`hosts/${id}/`).expect(200);
    expect(host).toMatchObject({ last_job: job!.id, has_active_failures: hasFailed });
  }
});

it('the results of a job on many hosts are stored and removed in parts, each within the timeout of a statement', async () => {
  const { app, make, database } = test;
  const inventory = await make.inventory({ organization: test.home.organization.id });
  const rows = await database.rows<{ id: number; name: string }>(sql`
    INSERT INTO hosts (name, inventory_id) SELECT 'part-' || n, ${inventory.id}
    FROM generate_series(1, 5001) n RETURNING id, name`);
  const job = await database.row<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, inventory_id) VALUES ('job', 'many', ${inventory.id})
    RETURNING id`);
  const counts = { changed: 0, dark: 0, failures: 0, ok: 1, processed: 1, skipped: 0 };
  const summary = { ...counts, ignored: 0, rescued: 0, failed: false };
  const repository = app.get(JobHostSummariesRepository, { strict: false });
  const statements = await countQueries(database, () =>
    repository.store(job!.id, new Map(rows.map(({ name }) => [name, summary])), {
      hosts: new Map(rows.map(({ id, name }) => [name, id])),
      originals: null,
    }),
  );
  expect(statements).toBe(4);
  const shown = () =>
    database.row(sql`
      SELECT count(*)::int AS jobs, count(summary.id)::int AS summaries FROM hosts
      LEFT JOIN job_host_summaries summary
        ON summary.id = hosts.last_job_host_summary_id AND summary.host_id = hosts.id
      WHERE hosts.last_job_id = ${job!.id}`);
  expect(await shown()).toEqual({ jobs: 5001, summaries: 5001 });
  // A cleanup clears the last job of hosts in parts, too.
  expect(await repository.removeOf([job!.id], 500)).toBe(500);
  expect(await shown()).toEqual({ jobs: 4501, summaries: 4501 });
});
