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
  it('are described by OPTIONS with their types, and the kinds as pairs', async () => {
    const { body: options } = await test.as.superuser.options('inventory_sources/').expect(200);
    const fields = Object.entries(options.actions.POST as Record<string, { type: string }>);
    expect(Object.fromEntries(fields.map(([name, { type }]) => [name, type]))).toEqual({
      ...{ name: 'string', description: 'string', inventory: 'id', source: 'choice' },
      ...{ source_path: 'string', source_vars: 'string', source_project: 'id' },
      ...{ scm_branch: 'string', credential: 'id', execution_environment: 'id' },
      ...{ enabled_var: 'string', enabled_value: 'string', host_filter: 'string' },
      ...{ limit: 'string', overwrite: 'boolean', overwrite_vars: 'boolean' },
      ...{ update_on_launch: 'boolean', update_cache_timeout: 'integer', timeout: 'integer' },
      verbosity: 'choice',
    });
    const kinds = ['ec2', 'gce', 'azure_rm', 'vmware', 'satellite6', 'openstack', 'rhv'];
    kinds.push('controller', 'insights', 'terraform', 'openshift_virtualization');
    kinds.push('scm', 'constructed');
    const choices = options.actions.POST.source.choices as [kind: string, name: string][];
    expect(choices.map(([kind]) => kind)).toEqual(kinds);
    expect(choices).toContainEqual(['vmware', 'VMware vCenter']);
    expect(options.actions.POST.verbosity.choices).toEqual([
      [0, '0 (WARNING)'],
      [1, '1 (INFO)'],
      [2, '2 (DEBUG)'],
    ]);
    const { body: made } = await post(cloud).expect(201);
    const { headers } = await test.as.superuser.options(`inventory_sources/${made.id}/`);
    const methods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT'];
    expect(String(headers.allow).split(', ').sort()).toEqual(methods);
  });

  it('are required', async () => {
    const { body: errors } = await test.as.superuser.post('inventory_sources/', {}).expect(400);
    const required = ['This field is required.'];
    expect(errors).toEqual({ name: required, inventory: required, source: required });
  });

  it.each([
    ['file', '"file" is not a valid choice.'],
    ['x', '"x" is not a valid choice.'],
    [null, 'This field may not be null.'],
  ])('refuse the source %s', async (source, text) => {
    const { body: errors } = await post({ source }).expect(400);
    expect(errors).toEqual({ source: [text] });
  });

  it('include a unique name in an inventory', async () => {
    const other = await test.make.inventory({ organization: test.home.organization.id });
    await post({ ...cloud, name: 'Twice' }).expect(201);
    const { body: errors } = await post({ ...cloud, name: 'Twice' }).expect(400);
    expect(errors).toEqual({
      __all__: ['InventorySource with this (name, inventory) combination already exists.'],
    });
    await post({ ...cloud, name: 'Twice', inventory: other.id }).expect(201);
  });

  it('do not include a change of the inventory', async () => {
    const other = await test.make.inventory({ organization: test.home.organization.id });
    const { body: made } = await post(cloud).expect(201);
    const path = `inventory_sources/${made.id}/`;
    const { body: after } = await test.as.superuser
      .patch(path, { inventory: other.id, description: 'new' })
      .expect(200);
    expect(after).toMatchObject({ inventory: inventory.id, description: 'new' });
  });
});

describe('imported hosts and groups', () => {
  it('can be removed together while no update runs', async () => {
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
    const listed = async (list: string): Promise<number[]> =>
      (await test.as.orgAdmin.get(`${path}/${list}/`).expect(200)).body.results.map(
        ({ id }: Row) => id,
      );
    expect([await listed('hosts'), await listed('groups')]).toEqual([[host.id], [group.id]]);
    for (const [list, row] of [
      ['hosts', host],
      ['groups', group],
    ] as const) {
      const { body: sources } = await test.as.orgAdmin.get(`${list}/${row.id}/inventory_sources/`);
      expect(sources.results.map(({ id }: Row) => id)).toEqual([source.id]);
    }
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

it('imported hosts and groups stay when a source is deleted', async () => {
  const own = await test.make.inventory({ organization: test.home.organization.id });
  const { body: source } = await post({ ...cloud, inventory: own.id }).expect(201);
  const host = await test.make.host(own);
  await test.database.execute(sql`
    INSERT INTO inventory_source_hosts (inventory_source_id, host_id)
    VALUES (${source.id}, ${host.id})`);
  const shown = () => test.as.orgAdmin.get(`hosts/${host.id}/`).expect(200);
  expect((await shown()).body).toMatchObject({ has_inventory_sources: true });
  await test.as.orgAdmin.delete(`inventory_sources/${source.id}/`).expect(204);
  expect((await shown()).body).toMatchObject({ has_inventory_sources: false });
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

  it('report all fields that require a project', async () => {
    const given = { source: 'ec2', source_path: 'a', scm_branch: 'b' };
    const text = ['Cannot set source_project source_path scm_branch if not SCM type.'];
    expect((await post(given).expect(400)).body).toEqual({
      ...{ source_project: text, source_path: text, scm_branch: text },
    });
    const { body: files } = await post({ source_path: 'a' }).expect(201);
    const path = `inventory_sources/${files.id}/`;
    const moved = await test.as.superuser
      .patch(path, { source: 'ec2', source_project: null })
      .expect(400);
    expect(moved.body).toEqual({ source_path: ['Cannot set source_path if not SCM type.'] });
    await test.as.superuser.patch(path, { ...cloud, source_path: '' }).expect(200);
  });

  it.each([
    ['YAML', 'a: 1\nb: [x]\n', 'a: 1\nb: [x]\n'],
    ['JSON', '{"a": 1, "b": ["x"]}', '{"a": 1, "b": ["x"]}'],
    ['an object', { a: 1, b: ['x'] }, '{"a": 1, "b": ["x"]}'],
    ['a megabyte', `{"a": "${'x'.repeat(1_000_000)}"}`, `{"a": "${'x'.repeat(1_000_000)}"}`],
  ])('accept variables as %s', async (_what, source_vars, stored) => {
    const { body: made } = await post({ source_vars }).expect(201);
    const { body: shown } = await test.as.superuser.get(`inventory_sources/${made.id}/`);
    expect(shown.source_vars === stored).toBe(true);
  });

  it.each([
    ['a list', ['a']],
    ['a list as text', '- a'],
    ['what is neither JSON nor YAML', 'a: ['],
  ])('refuse variables as %s', async (_what, source_vars) => {
    const { body: errors } = await post({ source_vars }).expect(400);
    expect(errors).toEqual({ source_vars: [expect.stringMatching(/^Cannot parse as JSON /)] });
  });

  it('accept names such as LD_PRELOAD as options of a plugin', async () => {
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

it('an execution environment must be readable by the author, and is used by updates', async () => {
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
