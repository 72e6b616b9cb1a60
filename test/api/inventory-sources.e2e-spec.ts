/** Sources of inventories: fields, rules, who may (docs/contract/inventory-sources.md). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let inventory: Row;
let project: Row;

beforeAll(async () => {
  test = await boot();
  inventory = await test.make.inventory({ organization: test.home.organization.id });
  project = await test.make.project({ organization: test.home.organization.id });
  await test.database.execute(sql`
    UPDATE unified_job_templates SET scm_type = 'git', scm_url = 'https://example.org/a.git',
      status = 'successful' WHERE id = ${project.id}`);
});
afterAll(() => test.close());

let counter = 0;
const body = (values: object = {}) => ({
  name: `Source ${(counter += 1)}`,
  inventory: inventory.id,
  source: 'scm',
  source_project: project.id,
  ...values,
});
const post = (values: object = {}) => test.as.superuser.post('inventory_sources/', body(values));
const cloud = { source: 'ec2', source_project: null };

describe('fields', () => {
  it('are asked for', async () => {
    const { body: errors } = await test.as.superuser.post('inventory_sources/', {}).expect(400);
    const required = ['This field is required.'];
    expect(errors).toEqual({ name: required, inventory: required, source: required });
  });

  it.each([
    ['file', '"file" is not a valid choice.'],
    ['x', '"x" is not a valid choice.'],
    [null, 'This field may not be null.'],
  ])('take no source %s', async (source, text) => {
    const { body: errors } = await post({ source }).expect(400);
    expect(errors).toEqual({ source: [text] });
  });

  it('have a name once in an inventory', async () => {
    const other = await test.make.inventory({ organization: test.home.organization.id });
    await post({ ...cloud, name: 'Twice' }).expect(201);
    const { body: errors } = await post({ ...cloud, name: 'Twice' }).expect(400);
    expect(errors).toEqual({
      __all__: ['InventorySource with this (name, inventory) combination already exists.'],
    });
    await post({ ...cloud, name: 'Twice', inventory: other.id }).expect(201);
  });

  it('keep the inventory', async () => {
    const other = await test.make.inventory({ organization: test.home.organization.id });
    const { body: made } = await post(cloud).expect(201);
    const path = `inventory_sources/${made.id}/`;
    const { body: after } = await test.as.superuser
      .patch(path, { inventory: other.id, description: 'new' })
      .expect(200);
    expect(after).toMatchObject({ inventory: inventory.id, description: 'new' });
  });
});

describe('what it has brought', () => {
  it('can be removed as a whole, while nothing runs', async () => {
    const own = await test.make.inventory({ organization: test.home.organization.id });
    const { body: source } = await post({ ...cloud, inventory: own.id }).expect(201);
    const [host, kept] = [await test.make.host(own), await test.make.host(own)];
    const group = await test.make.group(own);
    await test.database.execute(sql`
      INSERT INTO inventory_source_hosts (inventory_source_id, host_id)
      VALUES (${source.id}, ${host.id})`);
    await test.database.execute(sql`
      INSERT INTO inventory_source_groups (inventory_source_id, group_id)
      VALUES (${source.id}, ${group.id})`);
    const path = `inventory_sources/${source.id}`;
    await test.as.orgMember.delete(`${path}/hosts/`).expect(403);
    const { body: run } = await test.as.superuser.post(`${path}/update/`).expect(202);
    await test.as.orgAdmin.delete(`${path}/hosts/`).expect(409);
    await test.as.orgAdmin.delete(`${path}/groups/`).expect(409);
    await test.database.execute(
      sql`UPDATE unified_jobs SET status = 'canceled' WHERE id = ${run.id}`,
    );
    await test.as.orgAdmin.delete(`${path}/hosts/`).expect(204);
    await test.as.orgAdmin.get(`hosts/${host.id}/`).expect(404);
    await test.as.orgAdmin.get(`hosts/${kept.id}/`).expect(200);
    await test.as.orgAdmin.delete(`${path}/groups/`).expect(204);
    const { body: left } = await test.as.orgAdmin.get(`inventories/${own.id}/`).expect(200);
    expect(left).toMatchObject({ total_hosts: 1, total_groups: 0 });
    await test.as.orgAdmin.delete(`${path}/hosts/`).expect(204);
  });
});

describe('rules across fields', () => {
  it.each([
    [{ source_project: null }, { source_project: ['Project required for scm type sources.'] }],
    [{ scm_branch: 'x' }, { scm_branch: ['Project does not allow overriding branch.'] }],
    [{ ...cloud, source_path: 'a' }, { source_path: ['Cannot set source_path if not SCM type.'] }],
    [{ source_path: '../a' }, { source_path: [expect.stringContaining('inside the project')] }],
    [{ source_path: '/etc' }, { source_path: [expect.stringContaining('inside the project')] }],
    [{ host_filter: '(' }, { host_filter: [expect.stringContaining('regular expression')] }],
    [{ limit: '--x' }, { limit: ['A host pattern does not begin with a hyphen.'] }],
    [
      { ...cloud, source_vars: 'PATH: x' },
      { source_vars: ['`PATH` is a prohibited environment variable'] },
    ],
    [
      { source_vars: '{"LD_PRELOAD": "x"}' },
      { source_vars: ['`LD_PRELOAD` is a prohibited environment variable'] },
    ],
    [
      { source: 'openstack', source_project: null },
      { credential: ['Credential is required for a cloud source.'] },
    ],
  ])('refuse %j', async (values, errors) => {
    expect((await post(values).expect(400)).body).toEqual(errors);
  });

  it('take loader names where they are options of a plugin', async () => {
    await post({ ...cloud, source_vars: { LD_PRELOAD: 'x' } }).expect(201);
  });

  it('refuse a manual project', async () => {
    const manual = await test.make.project({ organization: test.home.organization.id });
    const { body: errors } = await post({ source_project: manual.id }).expect(400);
    expect(errors).toEqual({
      source_project: ['Cannot use manual project for SCM-based inventory.'],
    });
  });
});

describe('updates', () => {
  it('are started, shown and counted', async () => {
    const { body: source } = await post(cloud).expect(201);
    const path = `inventory_sources/${source.id}/update/`;
    expect((await test.as.superuser.get(path).expect(200)).body).toEqual({ can_update: true });
    const started = await test.as.superuser.post(path, {}).expect(202);
    const { inventory_update: id } = started.body;
    expect(started.headers.location).toBe(`/api/v2/inventory_updates/${id}/`);
    expect(started.body).toMatchObject({ id, type: 'inventory_update', status: 'pending' });
    const { body: listed } = await test.as.superuser.get(`inventory_updates/?id=${id}`);
    expect(listed.results[0].inventory_source).toBe(source.id);
    const { body: unified } = await test.as.superuser.get(`unified_jobs/?id=${id}`);
    expect(unified.results[0].type).toBe('inventory_update');
    const { body: after } = await test.as.superuser.get(`inventory_sources/${source.id}/`);
    expect(after.status).toBe('pending');
    await test.as.superuser.delete(`inventory_sources/${source.id}/`).expect(409);
    await test.as.superuser.post(`inventory_updates/${id}/cancel/`, {}).expect(202);
    await test.as.superuser.delete(`inventory_sources/${source.id}/`).expect(204);
    await test.as.superuser.get(`inventory_updates/${id}/`).expect(404);
  });

  it('cannot be had without a project', async () => {
    const { body: source } = await post().expect(201);
    await test.database.execute(sql`
      UPDATE unified_job_templates SET source_project_id = NULL WHERE id = ${source.id}`);
    await test.as.superuser.post(`inventory_sources/${source.id}/update/`, {}).expect(405);
  });

  it('of all sources tell how many could be started', async () => {
    const own = await test.make.inventory({ organization: test.home.organization.id });
    const path = `inventories/${own.id}/update_inventory_sources/`;
    await test.as.superuser.post(path, {}).expect(400);
    await post({ ...cloud, inventory: own.id }).expect(201);
    const { body: all } = await test.as.superuser.post(path, {}).expect(200);
    expect(all).toEqual([expect.objectContaining({ status: 'started' })]);
    const { body: broken } = await post({ inventory: own.id }).expect(201);
    await test.database.execute(sql`
      UPDATE unified_job_templates SET source_project_id = NULL WHERE id = ${broken.id}`);
    const { body: some } = await test.as.superuser.post(path, {}).expect(202);
    expect(some).toContainEqual({
      inventory_source: broken.id,
      status: 'Could not start because `can_update` returned False',
    });
    const { body: counted } = await test.as.superuser.get(`inventories/${own.id}/`);
    expect(counted).toMatchObject({ has_inventory_sources: true, total_inventory_sources: 2 });
  });
});

it('name an execution environment that their author may read, as their updates do', async () => {
  const elsewhere = await test.make.organization();
  const environment = await test.make.row('execution_environment', {
    ...{ name: 'Of others', image: 'quay.io/others/ee', organization: elsewhere.id },
  });
  const own = await test.make.inventory({ organization: test.home.organization.id });
  const user = await test.make.user();
  await test.make.grant('inventory', own, 'admin_role', { user });
  const sent = body({ ...cloud, inventory: own.id, execution_environment: environment.id });
  await (await test.as.asUser(user)).post('inventory_sources/', sent).expect(403);
  const { body: source } = await test.as.superuser.post('inventory_sources/', sent).expect(201);
  const path = `inventory_sources/${source.id}/`;
  const { body: run } = await test.as.superuser.post(`${path}update/`, {}).expect(202);
  for (const shown of [source, run]) {
    expect(shown).toMatchObject({
      execution_environment: environment.id,
      related: { execution_environment: `/api/v2/execution_environments/${environment.id}/` },
      summary_fields: { execution_environment: { name: 'Of others', image: 'quay.io/others/ee' } },
    });
  }
  const { body: errors } = await test.as.superuser
    .patch(path, { execution_environment: 99_999 })
    .expect(400);
  expect(errors).toEqual({
    execution_environment: ['Invalid pk "99999" - object does not exist.'],
  });
  await test.as.superuser.delete(`execution_environments/${environment.id}/`).expect(204);
  for (const kept of [path, `inventory_updates/${run.id}/`]) {
    const { body: shown } = await test.as.superuser.get(kept).expect(200);
    expect(shown.execution_environment).toBeNull();
  }
});

it('are made, and their updates canceled and deleted, by whoever may', async () => {
  const own = await test.make.inventory({ organization: test.home.organization.id });
  const { body: source } = await post({ ...cloud, inventory: own.id }).expect(201);
  const update = `inventory_sources/${source.id}/update/`;
  const run = async (as: Pick<typeof test.as.superuser, 'post'>): Promise<string> =>
    `inventory_updates/${(await as.post(update, {}).expect(202)).body.id}/`;
  const expected = {
    read_role: { create: 403, cancel: 403, remove: 403 },
    use_role: { create: 403, cancel: 403, remove: 403 },
    adhoc_role: { create: 403, cancel: 403, remove: 403 },
    update_role: { create: 403, cancel: 403, cancelOwn: 202, remove: 403 },
    admin_role: { create: 201, cancel: 202, cancelOwn: 202, remove: 204 },
  };
  for (const [role, statuses] of Object.entries(expected)) {
    const user = await test.make.user();
    await test.make.grant('inventory', own, role, { user });
    const as = await test.as.asUser(user);
    const create = (await as.post('inventory_sources/', body({ ...cloud, inventory: own.id })))
      .status;
    const theirs = await run(test.as.superuser);
    const cancel = (await as.post(`${theirs}cancel/`, {})).status;
    if (cancel !== 202) await test.as.superuser.post(`${theirs}cancel/`, {}).expect(202);
    const remove = (await as.delete(theirs)).status;
    const found = { create, cancel, remove };
    if ('cancelOwn' in statuses) {
      const cancelOwn = (await as.post(`${await run(as)}cancel/`, {})).status;
      Object.assign(found, { cancelOwn });
    }
    expect({ role, ...found }).toEqual({ role, ...statuses });
  }
  const hidden = await run(test.as.superuser);
  for (const verb of ['get', 'delete'] as const) await test.as.nobody[verb](hidden).expect(403);
  await test.as.nobody.post(update, {}).expect(403);
});

it('are changed by administrators of the inventory, updated by its updaters, read by its readers', async () => {
  const own = await test.make.inventory({ organization: test.home.organization.id });
  const { body: source } = await post({ ...cloud, inventory: own.id }).expect(201);
  const path = `inventory_sources/${source.id}/`;
  const expected = {
    read_role: [200, 403, 403, 403],
    use_role: [200, 403, 403, 403],
    adhoc_role: [200, 403, 403, 403],
    update_role: [200, 202, 403, 403],
    admin_role: [200, 202, 200, 204],
  };
  for (const [role, statuses] of Object.entries(expected)) {
    const user = await test.make.user({ username: `source-${role}` });
    await test.make.grant('inventory', own, role, { user });
    const as = await test.as.asUser(user);
    await test.database.execute(sql`DELETE FROM unified_jobs WHERE type = 'inventory_update'`);
    const read = await as.get(path);
    const started = await as.post(`${path}update/`, {});
    await test.database.execute(sql`DELETE FROM unified_jobs WHERE type = 'inventory_update'`);
    const changed = await as.patch(path, { description: role });
    const deleted = await as.delete(path);
    const found = [read, started, changed, deleted].map(({ status }) => status);
    expect({ role, found }).toEqual({ role, found: statuses });
  }
  await test.as.nobody.get(path).expect(404);
});
