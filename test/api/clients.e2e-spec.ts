/**
 * Rules that real clients depend on, numbered as in docs/contract/clients.md. Rule 9 is in
 * options.e2e-spec.ts, with the other tests of OPTIONS.
 */
import supertest from 'supertest';

import type { Row } from '../../src/common/resource/define-resource.js';
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { ApiClient } from '../support/client.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
let samples: Samples;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
});
afterAll(() => test.close());

const ROLE_BEARING = [
  'organizations',
  'projects',
  'inventories',
  'teams',
  'credentials',
  'job_templates',
  'workflow_job_templates',
  'instance_groups',
] as const;

const listPaths = async (): Promise<string[]> => {
  const routes = test.app.get(RouteTable, { strict: false }).routes;
  const lists = routes.filter(({ method, info }) => method === 'GET' && info?.kind === 'list');
  return Promise.all(lists.map((route) => samples.pathOf(route)));
};

it('1: shows its versions without authentication', async () => {
  const { body, headers } = await test.as.anonymous.get('/api/').expect(200);
  expect(body).toMatchObject({
    current_version: '/api/v2/',
    available_versions: { v2: '/api/v2/' },
    oauth2: '/api/o/',
  });
  const { body: paths } = await test.as.anonymous.get(body.oauth2).expect(200);
  expect(paths).toEqual({
    authorize: '/api/o/authorize/',
    token: '/api/o/token/',
    revoke_token: '/api/o/revoke_token/',
  });
  expect(String(headers['set-cookie'])).toMatch(/csrftoken=\w+/);
});

it('2 and 3: lists its collections without authentication, under the names that clients use', async () => {
  const { body } = await test.as.anonymous.get('/api/v2/').expect(200);
  for (const path of Object.values(body)) expect(path).toMatch(/^\/api\/v2\/[a-z_]+\/$/);
  const { inventory, constructed_inventory: constructed, ...others } = body as Row;
  expect(inventory).toBe('/api/v2/inventories/');
  expect(constructed).toBe('/api/v2/constructed_inventories/');
  expect(others).not.toHaveProperty('inventories');
  for (const [key, path] of Object.entries(others)) expect(path).toBe(`/api/v2/${key}/`);
  for (const path of Object.values(body as Record<string, string>)) {
    expect({ path, status: (await test.as.superuser.get(path)).status }).toEqual({
      path,
      status: 200,
    });
  }
});

it('4: links are paths in every response', async () => {
  for (const path of await listPaths()) {
    const { body } = await test.as.superuser.get(`${path}?page_size=2`).expect(200);
    const links = [body.next, body.previous].filter((link) => link !== null && link !== undefined);
    for (const row of body.results as Row[]) {
      const { webhook_receiver: receiver, ...related } = (row.related ?? {}) as Row;
      // Without a service there is no receiver, and the link is empty.
      if (receiver !== undefined && receiver !== '') links.push(receiver);
      links.push(row.url, ...Object.values(related).flat());
    }
    for (const link of links)
      expect({ path, link }).toEqual({ path, link: expect.stringMatching(/^\/api\//) });
  }
}, 60_000);

it('5: returns JSON unless the client requests HTML', async () => {
  for (const accept of ['*/*', 'application/json', '']) {
    const request = supertest(test.url).get('/api/v2/');
    if (accept !== '') void request.set('Accept', accept);
    const { headers } = await request.expect(200);
    expect(headers['content-type']).toMatch(/^application\/json/);
  }
});

it('6: accepts URLs without the trailing slash', async () => {
  const { home, as } = test;
  const { body } = await as.superuser.get(`teams/${home.team.id}?x=`);
  expect(body.id ?? body.detail).toBeDefined();
  await as.superuser.get(`teams/${home.team.id}`).expect(200);
  const list = await as.superuser.get('unified_jobs?order_by=finished').expect(200);
  expect(list.body).toHaveProperty('results');
});

it('7 and 8: OPTIONS of a missing object names every method', async () => {
  for (const name of [
    'teams',
    'organizations',
    'users',
    'inventories',
    'projects',
    'credentials',
  ]) {
    const { headers } = await test.as.superuser.options(`${name}/987654/`);
    expect(headers.allow).toBe('GET, PUT, PATCH, DELETE, HEAD, OPTIONS');
  }
});

it('11: OPTIONS of the lists with roles returns 200 to all users', async () => {
  for (const name of ROLE_BEARING) {
    for (const who of ['superuser', 'nobody'] as const) {
      const { body } = await test.as[who].options(`${name}/`).expect(200);
      expect({ name, roles: body.object_roles }).toEqual({
        name,
        roles: expect.arrayContaining(['admin_role', 'read_role']),
      });
    }
  }
});

it('10: OPTIONS of a resource that accepts only POST contains actions.POST', async () => {
  for (const path of [
    'job_templates/987654/launch/',
    'workflow_job_templates/987654/launch/',
    'projects/987654/update/',
  ]) {
    const { status, body } = await test.as.superuser.options(path);
    if (status < 300)
      expect({ path, actions: Object.keys(body.actions) }).toMatchObject({
        path,
        actions: expect.arrayContaining(['POST']),
      });
  }
});

it('settings/all contains actions.PUT in OPTIONS', async () => {
  const { body } = await test.as.superuser.options('settings/all/').expect(200);
  expect(body.actions.PUT).toMatchObject({ BULK_JOB_MAX_LAUNCH: { type: 'integer' } });
});

it('12: accepts Basic, Bearer and session authentication', async () => {
  const user = await test.make.user({ username: 'clerk', password: 'a password' });
  const basic = { Authorization: `Basic ${Buffer.from('clerk:a password').toString('base64')}` };
  const client = new ApiClient(test.url, basic);
  const sent = { description: 'AWX CLI', application: null, scope: 'write' };
  for (const path of [
    'tokens/',
    'users/clerk/personal_tokens/',
    `users/${user.id}/personal_tokens/`,
  ]) {
    const { body } = await client.post(path, sent).expect(201);
    expect(body).toMatchObject({ id: expect.any(Number), type: 'o_auth2_access_token' });
    await new ApiClient(test.url, { Authorization: `Bearer ${body.token}` }).get('me/').expect(200);
    await client.delete(`tokens/${body.id}/`).expect(204);
  }
});

it('13: returns 404 for URLs of a gateway', async () => {
  await test.as.anonymous.post('/api/gateway/v1/tokens/', {}).expect(404);
  const basic = { Authorization: `Basic ${Buffer.from('a:b').toString('base64')}` };
  await new ApiClient(test.url, basic).post('/api/gateway/v1/tokens/', {}).expect(404);
});

it('14: lists contain count, next, previous and results', async () => {
  for (const path of await listPaths()) {
    const { body } = await test.as.superuser.get(path).expect(200);
    expect({ path, keys: Object.keys(body) }).toEqual({
      path,
      keys: ['count', 'next', 'previous', 'results'],
    });
  }
}, 60_000);

it('15 and 16: returns 201 and the object on creation, and 204 on deletion and association', async () => {
  const { as, home } = test;
  const { body } = await as.superuser
    .post('teams/', { name: 'for clients', organization: home.organization.id })
    .expect(201);
  expect(body).toMatchObject({ id: expect.any(Number), url: `/api/v2/teams/${body.id}/` });
  const member = { id: as.users.orgMember.id, associate: true };
  await as.superuser.post(`${body.url}users/`, member).expect(204, '');
  await as.superuser.post(`${body.url}users/`, { ...member, disassociate: true }).expect(204, '');
  await as.superuser.delete(body.url).expect(204, '');
});

it('17: returns 201 on launches, 202 on updates and 201 on bulk operations', async () => {
  const { as, make } = test;
  const hosts = [{ name: 'bulk-of-clients', enabled: 'false', variables: '{"a": 1}' }];
  const inventory = await samples.of('inventory');
  const created = await as.superuser
    .post('bulk/host_create/', { inventory: inventory.id, hosts })
    .expect(201);
  await as.superuser
    .post('bulk/host_delete/', { hosts: created.body.hosts.map(({ id }: Row) => id) })
    .expect(201);
  const template = await samples.of('job_template');
  const launched = await as.superuser.post(`job_templates/${template.id}/launch/`, {}).expect(201);
  expect(launched.body).toMatchObject({ type: 'job', url: `/api/v2/jobs/${launched.body.id}/` });
  const project = await make.project({ scm_type: 'git', scm_url: 'https://127.0.0.1:9/x.git' });
  const updated = await as.superuser.post(`projects/${project.id}/update/`, {}).expect(202);
  expect(updated.body.url).toBe(`/api/v2/project_updates/${updated.body.id}/`);
  const bulk = await as.superuser
    .post('bulk/job_launch/', { name: 'b', jobs: [{ unified_job_template: String(template.id) }] })
    .expect(201);
  expect(bulk.body).toMatchObject({ id: expect.any(Number), status: 'pending' });
});

it('18: accepts null to empty a text or a choice', async () => {
  const { as, home } = test;
  const { body } = await as.superuser
    .post('inventories/', {
      name: 'with nulls',
      organization: home.organization.id,
      kind: null,
      host_filter: null,
      description: null,
      variables: null,
    })
    .expect(201);
  expect(body).toMatchObject({ kind: '', host_filter: null, description: '' });
});

it('19: reads numbers and booleans from texts, and ignores unknown keys', async () => {
  const { as, home } = test;
  const { body } = await as.superuser
    .post('users/', {
      username: 'lenient',
      password: '',
      is_superuser: 0,
      is_system_auditor: 'false',
      type: 'user',
      managed: true,
    })
    .expect(201);
  expect(body).toMatchObject({ is_superuser: false, is_system_auditor: false });
  const team = await as.superuser
    .post('teams/', { name: 'lenient', organization: String(home.organization.id) })
    .expect(201);
  expect(team.body.organization).toBe(home.organization.id);
});

it.each([
  ['teams', ['id', 'name', 'organization']],
  ['users', ['id', 'username']],
  ['organizations', ['id', 'name']],
  ['inventories', ['id', 'name', 'kind', 'organization']],
  ['hosts', ['id', 'name', 'inventory']],
  ['groups', ['id', 'name', 'inventory']],
  ['projects', ['id', 'name', 'organization', 'status']],
  ['credentials', ['id', 'name', 'credential_type', 'organization']],
  ['credential_types', ['id', 'name', 'kind']],
  ['notification_templates', ['id', 'name', 'organization']],
  ['job_templates', ['id', 'name', 'organization']],
  ['workflow_job_templates', ['id', 'name', 'organization']],
  ['workflow_job_template_nodes', ['id', 'identifier', 'workflow_job_template']],
  ['jobs', ['id', 'name', 'status', 'organization']],
  ['roles', ['id', 'role_field']],
])('20: %s can be filtered by %j', async (collection, fields) => {
  for (const field of fields) {
    const value =
      field === 'id' ||
      /^(organization|inventory|credential_type|workflow_job_template)$/.test(field)
        ? '1'
        : 'x';
    const status = (await test.as.superuser.get(`${collection}/?${field}=${value}`)).status;
    expect({ field, status }).toEqual({ field, status: 200 });
  }
  await test.as.superuser.get(`${collection}/?or__id=7&or__id=8`).expect(200);
});

it('20: a filter by None matches objects without an organization', async () => {
  await test.as.superuser.get('notification_templates/?organization=None').expect(200);
  await test.as.superuser.get('projects/?organization=null').expect(200);
});

it('21: shows object roles in lists too', async () => {
  for (const collection of [
    'organizations',
    'teams',
    'inventories',
    'projects',
    'job_templates',
    'workflow_job_templates',
    'credentials',
  ]) {
    await samples.of(collection.replace(/ies$/, 'y').replace(/s$/, ''));
    const { body } = await test.as.superuser.get(`${collection}/?page_size=1`).expect(200);
    const { admin_role } = body.results[0].summary_fields.object_roles;
    expect(admin_role).toMatchObject({ id: expect.any(Number), name: 'Admin' });
  }
});

it('22: runs contain the fields that clients wait for, and workflow jobs no unused flag', async () => {
  for (const type of ['job', 'project_update', 'workflow_job']) {
    const { id } = await samples.of(type);
    const { body } = await test.as.superuser.get(`${type}s/${id}/`).expect(200);
    expect(body).toMatchObject({ type, url: `/api/v2/${type}s/${id}/`, status: 'successful' });
    for (const key of ['failed', 'finished']) expect(body).toHaveProperty(key);
    expect(body.event_processing_finished).toBe(type === 'workflow_job' ? undefined : true);
  }
});

it('23: events contain their position in the output, and can be read from there', async () => {
  const event = await samples.of('job_event');
  const path = `jobs/${String(event.job_id)}/job_events/?order_by=start_line&no_truncate=True`;
  const { body } = await test.as.superuser.get(path).expect(200);
  expect(body.results[0]).toMatchObject({ start_line: 0, end_line: 1, stdout: 'ok' });
  const rest = await test.as.superuser.get(`${path}&start_line__gte=1`).expect(200);
  expect(rest.body.count).toBe(0);
});

it.each([
  'teams/?organization__name=Home',
  'hosts/?inventory__name=x',
  'hosts/?or__id=7&or__name=7',
  'unified_jobs?order_by=finished&unified_job_node__workflow_job=1',
  'unified_job_templates/?type=job_template&organization=1&name=x',
  'unified_job_templates/?type=workflow_job_template&organization=1&name=x',
  'workflow_job_template_nodes/?workflow_job_template__name=x&identifier=x',
  'job_events/?start_line__gte=3&order_by=-start_line,id',
  'notification_templates/?organization=None',
  'hosts/?enabled=1&format=json',
  'unified_jobs/?or__type=job&or__type=system_job&not__launch_type=sync',
  'unified_jobs/?not__type=workflow_job&job__limit=x',
  'unified_jobs/?job__job_template=1&job__job_template__name=x',
  'unified_jobs/?workflow_job__workflow_job_template=1&workflowjob__isnull=true',
  'unified_jobs/?or__job__inventory=1&or__adhoccommand__inventory=1&or__workflowjob__inventory=1',
  'unified_jobs/?or__inventoryupdate__inventory_source__inventory=1&job__hosts=1',
  'unified_jobs/?instance_group=1&labels__name__icontains=x&schedule__name=x',
  'unified_jobs/?execution_node=x&not__controller_node=x&order_by=execution_node',
  'unified_job_templates/?or__type=job_template&job_template__playbook__icontains=x',
  'unified_job_templates/?labels__name__icontains=x&schedules__enabled=true',
  'unified_job_templates/?instance_groups=1&execution_environment=1&credentials__id=1',
  'unified_job_templates/?project__scm_url__icontains=x&order_by=job_template__playbook',
  'organizations/?default_environment=1',
  'projects/?default_environment=null&credentials=1',
  'instances/?node_type=execution&not__node_type=hop&errors=&node_state=ready',
  'instances/?rampart_groups__id=1&order_by=node_state',
  'tokens/?application__name__icontains=x&order_by=application__name',
  'tokens/?application__isnull=true&user__username=x&order_by=-application',
  'credentials/?admin_role__members=1&credential_type__kind=ssh&kind=ssh',
  'users/?roles__content_type__model=team&roles__content_type=team',
  'roles/?singleton_name=system_auditor&content_type__model=team',
  'teams/?not__admin_role__members__id=1',
  'inventories/?has_inventory_sources=true&or__inventory_sources_with_failures__gt=0',
  'activity_stream/?role__isnull=true&or__object1=user',
  'workflow_job_template_nodes/?execution_environment=1',
  'jobs/?id=1&job_template=1',
  'workflow_jobs/?id=1',
  'workflow_job_nodes/?job__name=x&workflow_job=1&identifier=x',
  'roles/?role_field=admin_role',
  'me/',
  'settings/all/',
  'ping/',
  'metrics/',
  'config/',
  'bulk/',
])('%s is accepted', async (path) => {
  const accept = { Accept: 'application/json' };
  await test.as.superuser.with(accept).get(path).expect(200);
});

it('metrics have the JSON form that clients read', async () => {
  const { body } = await test.as.superuser.get('metrics/?format=json').expect(200);
  expect(body.process_cpu_seconds_total).toEqual({
    help_text: expect.any(String),
    type: 'counter',
    samples: [{ labels: {}, value: expect.any(Number) }],
  });
});

it('24: sends no product version that clients cannot parse', async () => {
  const { headers } = await test.as.superuser.get('me/').expect(200);
  const version = headers['x-api-product-version'];
  if (version !== undefined) expect(version).toContain('.');
});
