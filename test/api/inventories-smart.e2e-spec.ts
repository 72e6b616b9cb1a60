/** Inventories whose hosts a filter finds (docs/contract/resources.md#smart-inventories). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { HostsRepository } from '../../src/inventories/hosts.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import { launchJob } from '../support/runs.js';

let test: TestApp;
let plant: Row;
let smart: Row;
const hosts: Record<string, Row> = {};

beforeAll(async () => {
  test = await boot();
  const { make, home } = test;
  const organization = home.organization.id;
  plant = await make.inventory({ organization, name: 'Plant' });
  const office = await make.inventory({ organization, name: 'Office' });
  const foreign = await make.inventory({ organization: (await make.organization()).id });
  hosts.one = await make.host(plant, { name: 'web-1', variables: 'a: 1' });
  hosts.two = await make.host(plant, { name: 'web-2', enabled: false });
  hosts.twin = await make.host(office, { name: 'web-1' });
  hosts.three = await make.host(office, { name: 'web-3' });
  hosts.db = await make.host(office, { name: 'db' });
  hosts.foreign = await make.host(foreign, { name: 'web-9' });
  const group = await make.group(plant, { name: 'webs', variables: 'port: 80' });
  await test.as.superuser.post(`groups/${group.id}/hosts/`, { id: hosts.one.id }).expect(204);
  smart = (
    await test.as.orgAdmin
      .post('inventories/', {
        ...{ name: 'Webs', organization, kind: 'smart', variables: 'site: north' },
        host_filter: 'name__startswith=%22web%22',
      })
      .expect(201)
  ).body;
});
afterAll(() => test.close());

const create = (fields: object) =>
  test.as.orgAdmin.post('inventories/', {
    ...{ name: `Smart ${Math.random()}`, organization: test.home.organization.id, kind: 'smart' },
    ...fields,
  });
/** Makes the next count of the hosts of smart inventories exceed its time limit. */
function takeTooLong(): void {
  const canceled = Object.assign(new Error('canceling statement'), { code: '57014' });
  const hosts = test.app.get(HostsRepository, { strict: false });
  jest.spyOn(hosts, 'countMembers').mockRejectedValueOnce(canceled);
}
const namesIn = async (list: string): Promise<unknown[]> =>
  (await test.as.superuser.get(list).expect(200)).body.results.map(({ name }: Row) => name);

it('a smart inventory has the hosts of its organization that match, one for each name', async () => {
  expect(smart).toMatchObject({ kind: 'smart', host_filter: 'name__startswith="web"' });
  const { body } = await test.as.superuser.get(`inventories/${smart.id}/hosts/`).expect(200);
  expect(body.results.map(({ id }: Row) => id)).toEqual([
    hosts.one?.id,
    hosts.two?.id,
    hosts.three?.id,
  ]);
  expect(body.count).toBe(3);
  expect(await namesIn(`inventories/${smart.id}/hosts/?enabled=false`)).toEqual(['web-2']);
});

it('a smart inventory counts its hosts when it is read, and has no groups', async () => {
  for (const { body } of [
    await test.as.superuser.get(`inventories/${smart.id}/`).expect(200),
    { body: (await test.as.superuser.get(`inventories/?id=${smart.id}`)).body.results[0] },
  ]) {
    expect(body).toMatchObject({ total_hosts: 3, total_groups: 0, has_active_failures: false });
    expect(Object.keys(body.related)).not.toEqual(expect.arrayContaining(['groups']));
    expect(body.related).toMatchObject({ hosts: expect.any(String), script: expect.any(String) });
  }
  expect(await namesIn(`inventories/${smart.id}/groups/`)).toEqual([]);
});

it('the list of inventories shows no counters of smart inventories that take too long to count', async () => {
  takeTooLong();
  const { body } = await test.as.superuser.get('inventories/').expect(200);
  const [shown] = body.results.filter(({ id }: Row) => id === smart.id);
  expect(shown).toMatchObject({
    ...{ total_hosts: null, hosts_with_active_failures: null, has_active_failures: null },
  });
});

it('jobs are launched on a smart inventory that takes too long to count', async () => {
  const template = await test.make.jobTemplate({ inventory: smart.id, job_slice_count: 2 });
  takeTooLong();
  const { body } = await test.as.superuser
    .post(`job_templates/${template.id}/launch/`, {})
    .expect(201);
  takeTooLong();
  await test.as.superuser.post(`workflow_jobs/${body.workflow_job}/relaunch/`, {}).expect(201);
});

it('a smart inventory is written for Ansible without groups and disabled hosts', async () => {
  const url = `inventories/${smart.id}/script/?hostvars=1`;
  expect((await test.as.superuser.get(url).expect(200)).body).toEqual({
    all: { hosts: ['web-1', 'web-3'], vars: { site: 'north' } },
    _meta: { hostvars: { 'web-1': { a: 1 }, 'web-3': {} } },
  });
  const one = await test.as.superuser.get(`inventories/${smart.id}/script/?host=web-1`);
  expect(one.body).toEqual({ a: 1 });
  await test.as.superuser.get(`inventories/${smart.id}/script/?host=db`).expect(404);
});

it.each([
  [{}, { host_filter: ['Smart inventories must specify host_filter'] }],
  [{ host_filter: ' ' }, { host_filter: ['Smart inventories must specify host_filter'] }],
  [
    { host_filter: 'nope=1' },
    { host_filter: ["Invalid query nope=1: Host has no field named 'nope'"] },
  ],
  [
    { host_filter: '(name=a' },
    { host_filter: [expect.stringMatching(/^Invalid query \(name=a: ./)] },
  ],
  [
    { host_filter: 'name__regex="("' },
    {
      host_filter: [expect.stringMatching(/^Invalid query name__regex="\(": ./)],
    },
  ],
  [
    { host_filter: 'created_by__email=a' },
    {
      host_filter: [
        'Invalid query created_by__email=a: Smart inventories cannot filter by created_by__email',
      ],
    },
  ],
  [
    { host_filter: 'last_job__playbook=a' },
    {
      host_filter: [
        'Invalid query last_job__playbook=a: Smart inventories cannot filter by last_job__playbook',
      ],
    },
  ],
  ...[
    'jobs__status',
    'jobs__job_template__name',
    'unified_jobs__name',
    'ad_hoc_commands__module_args',
    'inventory__jobtemplates__playbook',
    'inventory__job_templates__playbook',
    'inventory__admin_role__members',
    'groups__inventory__jobs__name',
    'inventory__organization__credentials__name',
  ].map((path): [object, object] => [
    { host_filter: `${path}=a` },
    {
      host_filter: [expect.stringContaining(`${path}=a: Smart inventories cannot filter by`)],
    },
  ]),
])('a smart inventory is refused with %j', async (fields, errors) => {
  expect((await create(fields).expect(400)).body).toEqual(errors);
});

it.each(['last_job__status=failed', 'groups__name=webs', 'inventory__organization__name=x'])(
  'a smart inventory accepts %s',
  (filter) => create({ host_filter: filter }).expect(201),
);

it('a smart inventory accepts no hosts, groups and sources', async () => {
  const { superuser } = test.as;
  for (const [list, noun] of [
    ['hosts', 'Host'],
    ['groups', 'Group'],
  ]) {
    const refused = { inventory: [`Cannot create ${noun} for Smart or Constructed Inventories`] };
    const below = await superuser.post(`inventories/${smart.id}/${list}/`, { name: 'new' });
    expect([below.status, below.body]).toEqual([400, refused]);
    const { body } = await superuser.post(`${list}/`, { name: 'new', inventory: smart.id });
    expect(body).toEqual(refused);
  }
  const source = { name: 'New', source: 'ec2' };
  const text = ['Cannot create Inventory Source for Smart or Constructed Inventories'];
  const below = await superuser.post(`inventories/${smart.id}/inventory_sources/`, source);
  expect([below.status, below.body]).toEqual([400, { inventory: text }]);
  const { body } = await superuser.post('inventory_sources/', { ...source, inventory: smart.id });
  expect(body).toEqual({ inventory: text });
});

it('a smart inventory stays smart if clients send empty or null fields', async () => {
  const { superuser } = test.as;
  for (const sent of [{ kind: null, host_filter: null }, { kind: '' }, { host_filter: '' }]) {
    const { body } = await superuser.patch(`inventories/${smart.id}/`, sent).expect(200);
    expect(body).toMatchObject({ kind: 'smart', host_filter: 'name__startswith="web"' });
  }
  await superuser.patch(`inventories/${smart.id}/`, { kind: 'constructed' }).expect(405);
  await superuser.patch(`inventories/${plant.id}/`, { kind: 'smart' }).expect(405);
});

it('its hosts are visible to its readers, and only organization admins change the filter', async () => {
  const user = await test.make.user();
  const reader = await test.as.asUser(user);
  const { body: own } = await create({ host_filter: 'name=db' }).expect(201);
  await test.make.grant('inventory', own, 'admin_role', { user });
  expect((await reader.get(`inventories/${own.id}/hosts/`).expect(200)).body.count).toBe(1);
  await reader.get(`hosts/${hosts.db?.id}/`).expect(403);
  await reader.patch(`inventories/${own.id}/`, { description: 'Mine' }).expect(200);
  await reader.patch(`inventories/${own.id}/`, { host_filter: 'name=web-3' }).expect(403);
  await test.as.orgAdmin.patch(`inventories/${own.id}/`, { host_filter: 'name=web-3' }).expect(200);
  expect(await namesIn(`inventories/${own.id}/hosts/`)).toEqual(['web-3']);
});

it('a host lists its smart inventories', async () => {
  expect(await namesIn(`hosts/${hosts.one?.id}/smart_inventories/`)).toContain('Webs');
  for (const host of ['twin', 'db', 'foreign']) {
    expect(await namesIn(`hosts/${hosts[host]?.id}/smart_inventories/`)).not.toContain('Webs');
  }
});

it('summaries of a smart inventory omit the counters that are not stored', async () => {
  const project = await test.make.project({ organization: test.home.organization.id });
  const { id } = await test.make.jobTemplate({ project: project.id, inventory: smart.id });
  const { body } = await test.as.superuser.get(`job_templates/${id}/`).expect(200);
  expect(body.summary_fields.inventory).toMatchObject({ name: 'Webs', kind: 'smart' });
  expect(body.summary_fields.inventory).not.toHaveProperty('total_hosts');
  const { body: host } = await test.as.superuser.get(`hosts/${hosts.one?.id}/`).expect(200);
  expect(host.summary_fields.inventory).toMatchObject({ name: 'Plant', total_hosts: 2 });
});

it('a job on a smart inventory is sliced by its hosts', async () => {
  const project = await test.make.project({ organization: test.home.organization.id });
  const template = await test.make.jobTemplate({
    ...{ project: project.id, inventory: smart.id, job_slice_count: 9 },
  });
  const workflow = await launchJob(test, template);
  expect(workflow.type).toBe('workflow_job');
  const url = `workflow_jobs/${workflow.id}/workflow_nodes/`;
  expect((await test.as.superuser.get(url)).body.count).toBe(3);
});

it('a copy has the filter of the original, also with percent signs', async () => {
  const { body: original } = await create({ host_filter: 'name=a%2541' }).expect(201);
  expect(original.host_filter).toBe('name=a%41');
  const path = `inventories/${original.id}/copy/`;
  const { body: copy } = await test.as.orgAdmin.post(path, { name: 'Copy of %' }).expect(201);
  expect(copy.host_filter).toBe('name=a%41');
});
