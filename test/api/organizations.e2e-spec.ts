import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { inUse } from '../support/in-use.js';
import { boot, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const namesOf = (rows: Row[]): unknown[] => rows.map(({ name, username }) => name ?? username);

/** One line for each persona: statuses in the order of the header. */
const RIGHTS: Record<
  PersonaName,
  readonly [read: number, change: number, add: number, remove: number]
> = {
  superuser: [200, 200, 201, 204],
  auditor: [200, 403, 403, 403],
  orgAdmin: [200, 200, 403, 204],
  orgMember: [200, 403, 403, 403],
  teamAdmin: [403, 403, 403, 403],
  teamMember: [403, 403, 403, 403],
  outsider: [403, 403, 403, 403],
  nobody: [403, 403, 403, 403],
};

describe.each(PERSONA_NAMES)('%s', (name) => {
  const [read, change, add, remove] = RIGHTS[name];

  it(`gets ${read} reading, ${change} changing, ${add} adding`, async () => {
    const { as, home } = test;
    const url = `organizations/${home.organization.id}/`;
    await as[name].get(url).expect(read);
    await as[name].patch(url, { description: `by ${name}` }).expect(change);
    await as[name].put(url, { name: 'Home', description: `by ${name}` }).expect(change);
    await as[name].post('organizations/', { name: `made by ${name}` }).expect(add);
  });

  it(`gets ${remove} deleting`, async () => {
    const { as, make } = test;
    const doomed = await make.organization();
    if (name === 'orgAdmin')
      await make.grant('organization', doomed, 'admin_role', { user: as.users[name] });
    await as[name].delete(`organizations/${doomed.id}/`).expect(remove);
  });

  it('lists its own organizations', async () => {
    const { body } = await test.as[name].get('organizations/?name__in=Home,Elsewhere').expect(200);
    const expected: Partial<Record<PersonaName, string[]>> = {
      superuser: ['Elsewhere', 'Home'],
      auditor: ['Elsewhere', 'Home'],
      orgAdmin: ['Home'],
      orgMember: ['Home'],
      outsider: ['Elsewhere'],
    };
    expect(namesOf(body.results)).toEqual(expected[name] ?? []);
  });
});

it('an organization shows links, roles, capabilities and counts', async () => {
  const { as, make } = test;
  const organization = await make.organization();
  const { orgAdmin, orgMember } = as.users;
  await make.grant('organization', organization, 'admin_role', { user: orgAdmin });
  await make.grant('organization', organization, 'member_role', { user: orgMember });
  await make.team({ organization: organization.id });
  const url = `organizations/${organization.id}/`;
  const { body } = await as.orgAdmin.get(url).expect(200);
  expect(Object.keys(body.related)).toEqual(
    expect.arrayContaining([
      'users',
      'admins',
      'teams',
      'projects',
      'inventories',
      'job_templates',
      'credentials',
      'notification_templates',
      'notification_templates_started',
      'notification_templates_success',
      'notification_templates_error',
      'notification_templates_approvals',
      'object_roles',
      'access_list',
      'activity_stream',
    ]),
  );
  expect(Object.keys(body.summary_fields.object_roles)).toHaveLength(13);
  expect(body.summary_fields.object_roles.admin_role).toEqual({
    id: expect.any(Number),
    name: 'Admin',
    description: 'Can manage all aspects of the organization',
    user_only: true,
  });
  expect(body.summary_fields.user_capabilities).toEqual({ edit: true, delete: true });
  expect(body.summary_fields.related_field_counts).toMatchObject({ teams: 1, users: 2, admins: 1 });
  const shown = await as.orgMember.get(url);
  expect(shown.body.summary_fields.user_capabilities).toEqual({ edit: false, delete: false });
});

it('organization names are unique', async () => {
  const { body } = await test.as.superuser.post('organizations/', { name: 'Home' }).expect(400);
  expect(body).toEqual({ name: ['Organization with this Name already exists.'] });
});

it('only superusers can set max_hosts', async () => {
  const { as, home } = test;
  const url = `organizations/${home.organization.id}/`;
  const { body } = await as.orgAdmin.patch(url, { max_hosts: 5 }).expect(400);
  expect(body).toEqual({ __all__: ['Cannot change max_hosts.'] });
  await as.orgAdmin.patch(url, { max_hosts: 0 }).expect(200);
  await as.superuser.patch(url, { max_hosts: 5 }).expect(200);
  await as.superuser.patch(url, { max_hosts: -1 }).expect(400);
  await as.superuser.patch(url, { max_hosts: 0 }).expect(200);
});

describe('members', () => {
  it('are added and removed by users/ and admins/', async () => {
    const { as, make } = test;
    const organization = await make.organization();
    const user = await make.user();
    const client = await as.asUser(user);
    for (const list of ['users', 'admins']) {
      const url = `organizations/${organization.id}/${list}/`;
      await as.superuser.post(url, { id: user.id }).expect(204, '');
      await as.superuser.post(url, { id: user.id }).expect(204);
      await client.get(`organizations/${organization.id}/`).expect(200);
      const { body } = await as.superuser.get(url).expect(200);
      expect(namesOf(body.results)).toEqual([user.username]);
      await as.superuser.post(url, { id: user.id, disassociate: false }).expect(204);
      expect((await as.superuser.get(url)).body.count).toBe(1);
      await as.superuser.post(url, { id: user.id, disassociate: true }).expect(204);
      await as.superuser.post(url, { id: user.id, disassociate: true }).expect(204);
      await client.get(`organizations/${organization.id}/`).expect(403);
    }
  });

  it('can be created here by an administrator who cannot create other users', async () => {
    const { as, home } = test;
    const body = { username: 'made-here', password: '' };
    await as.orgAdmin.post('users/', { ...body, username: 'made-there' }).expect(403);
    const url = `organizations/${home.organization.id}/users/`;
    await as.orgMember.post(url, body).expect(403);
    const made = await as.orgAdmin.post(url, body).expect(201);
    expect(made.headers.location).toBe(`/api/v2/users/${made.body.id}/`);
    const { body: members } = await as.orgAdmin.get(`${url}?username=made-here`);
    expect(members.count).toBe(1);
    await as.orgAdmin.post(url, { ...body, username: 'root', is_superuser: true }).expect(403);
    expect((await as.superuser.get('users/?username=root')).body.count).toBe(0);
  });

  it('of other organizations cannot be added', async () => {
    const { as, home, make } = test;
    const url = `organizations/${home.organization.id}/users/`;
    await as.orgAdmin.post(url, { id: as.users.outsider.id }).expect(403);
    await as.orgAdmin.post(url, { id: as.users.superuser.id }).expect(403);
    await as.orgAdmin.post(url, { id: as.users.auditor.id }).expect(403);
    const free = await make.user();
    await as.orgAdmin.post(url, { id: free.id }).expect(204);
    await as.orgAdmin.post(url, { id: free.id, disassociate: true }).expect(204);
  });

  it.each([
    [{ id: 999999 }, { detail: 'User matching query does not exist.' }],
    [{ id: '99999999999' }, { detail: '"id" field must be an integer.' }],
    [{ id: 99999999999 }, { detail: 'User matching query does not exist.' }],
    [{ id: 'x' }, { detail: '"id" field must be an integer.' }],
    [{ id: [1] }, { detail: '"id" field must be an integer.' }],
    [{ id: true }, { detail: '"id" field must be an integer.' }],
    [{ id: 1.5 }, { detail: '"id" field must be an integer.' }],
    [{ disassociate: true }, { detail: '"id" is required to disassociate' }],
  ])('are refused: %j', async (sent, expected) => {
    const { body } = await test.as.superuser
      .post(`organizations/${test.home.organization.id}/users/`, sent)
      .expect(400);
    expect(body).toEqual(expected);
  });
});

describe('deletion', () => {
  it('is refused with active jobs, and deletes teams', async () => {
    const { as, make, database } = test;
    const organization = await make.organization();
    const team = await make.team({ organization: organization.id });
    const job = await database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, organization_id, created, modified)
      VALUES ('job', 'active', 'running', ${organization.id}, now(), now()) RETURNING id`);
    const { body } = await as.superuser.delete(`organizations/${organization.id}/`).expect(409);
    expect(body).toEqual(inUse({ id: job!.id, type: 'job' }));
    await database.execute(sql`
      UPDATE unified_jobs SET status = 'successful' WHERE organization_id = ${organization.id}`);
    await as.superuser.delete(`organizations/${organization.id}/`).expect(204);
    await as.superuser.get(`teams/${team.id}/`).expect(404);
    const roles = await database.rows(sql`
      SELECT 1 FROM roles WHERE (content_type, object_id) IN
        (('organization', ${organization.id}::int), ('team', ${team.id}::int))`);
    expect(roles).toEqual([]);
  });

  it('is refused while a run of another organization uses one of its inventories', async () => {
    const { as, make, database, home } = test;
    const organization = await make.organization();
    const inventory = await make.inventory({ organization: organization.id });
    const job = await database.row<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, organization_id, inventory_id)
      VALUES ('job', 'active', 'running', ${home.organization.id}, ${inventory.id}) RETURNING id`);
    const { body } = await as.superuser.delete(`organizations/${organization.id}/`).expect(409);
    expect(body).toEqual(inUse({ id: job!.id, type: 'job' }));
    await database.execute(sql`UPDATE unified_jobs SET status = 'failed' WHERE id = ${job!.id}`);
    await as.superuser.delete(`organizations/${organization.id}/`).expect(204);
  });

  it('is refused while a setting names one of its execution environments', async () => {
    const { as, make } = test;
    const organization = await make.organization();
    const { orgAdmin } = as.users;
    await make.grant('organization', organization, 'admin_role', { user: orgAdmin });
    const { id } = await make.row('execution_environment', {
      ...{ name: 'For all', image: 'quay.io/all/ee', organization: organization.id },
    });
    const setting = 'settings/system/';
    await as.superuser.patch(setting, { DEFAULT_EXECUTION_ENVIRONMENT: id }).expect(200);
    const { body } = await as.orgAdmin.delete(`organizations/${organization.id}/`).expect(409);
    expect(body.detail).toContain('DEFAULT_EXECUTION_ENVIRONMENT');
    await as.superuser.patch(setting, { DEFAULT_EXECUTION_ENVIRONMENT: null }).expect(200);
    await as.orgAdmin.delete(`organizations/${organization.id}/`).expect(204);
  });

  it('keeps projects and templates without an organization', async () => {
    const { as, make } = test;
    const organization = await make.organization();
    const project = await make.project({ organization: organization.id });
    await as.superuser.delete(`organizations/${organization.id}/`).expect(204);
    const row = await test.database.row<Row>(
      sql`SELECT organization_id FROM unified_job_templates WHERE id = ${project.id}`,
    );
    expect(row).toEqual({ organization_id: null });
  });
});

it('Galaxy credentials keep the order in which they were attached, and have the type Galaxy', async () => {
  const { make, home, as } = test;
  const list = `organizations/${home.organization.id}/galaxy_credentials/`;
  const type = await as.superuser.get('credential_types/?namespace=galaxy_api_token').expect(200);
  const attached: number[] = [];
  for (const name of ['middle', 'last', 'first']) {
    const { id } = await make.credential({
      name,
      organization: home.organization.id,
      credential_type: type.body.results[0].id,
      inputs: { url: `https://${name}.example.org/` },
    });
    attached.unshift(id);
  }
  for (const id of attached) await as.superuser.post(list, { id }).expect(204);
  const { id: machine } = await make.credential({ organization: home.organization.id });
  await as.superuser
    .post(list, { id: machine })
    .expect(400, { detail: 'Credential must be a Galaxy credential, not Machine.' });
  const { body } = await as.superuser.get(list).expect(200);
  expect(body.results.map(({ id }: { id: number }) => id)).toEqual(attached);
});
