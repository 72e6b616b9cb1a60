import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const entries = async (query: string): Promise<Row[]> =>
  (await test.as.superuser.get(`activity_stream/?order_by=id&page_size=200&${query}`).expect(200))
    .body.results;

it('an entry names the user, the created, changed or deleted object, and the changed fields', async () => {
  const { as, home } = test;
  const { body } = await as.orgAdmin
    .post('teams/', { name: 'Watched', organization: home.organization.id })
    .expect(201);
  await as.orgAdmin.patch(body.url, { name: 'Watched closely', description: '' }).expect(200);
  await as.orgAdmin.patch(body.url, { name: 'Watched closely' }).expect(200);
  const shown = await as.orgAdmin.get(`${body.url}activity_stream/`).expect(200);
  expect(shown.body.results).toMatchObject([
    {
      operation: 'create',
      object1: 'team',
      object2: '',
      changes: { id: body.id, name: 'Watched', description: '' },
      related: { team: [body.url] },
      summary_fields: {
        actor: { id: as.users.orgAdmin.id, username: 'orgAdmin' },
        team: [{ id: body.id }],
      },
    },
    { operation: 'update', changes: { name: ['Watched', 'Watched closely'] } },
  ]);
  await as.orgAdmin.delete(body.url).expect(204);
  const deleted = await entries(`operation=delete&object1=team&search=Watched`);
  expect(deleted).toMatchObject([{ changes: { id: body.id, name: 'Watched closely' } }]);
});

it('deletions are visible to administrators of the organization', async () => {
  const { as, home } = test;
  const { body } = await as.superuser
    .post('teams/', { name: 'Short-lived', organization: home.organization.id })
    .expect(201);
  await as.superuser.delete(body.url).expect(204);
  const query = 'activity_stream/?operation=delete&search=Short-lived';
  expect((await as.orgAdmin.get(query)).body.count).toBe(1);
  expect((await as.outsider.get(query)).body.count).toBe(0);
  expect((await as.orgMember.get(query)).body.count).toBe(0);
});

it('a grant is recorded once, with its role and both sides', async () => {
  const { as, home, make } = test;
  const project = await make.project({ organization: home.organization.id });
  const role = await make.role('project', project, 'use_role');
  for (const more of [{}, {}, { disassociate: true }, { disassociate: true }]) {
    await as.orgAdmin.post(`roles/${role.id}/teams/`, { id: home.team.id, ...more }).expect(204);
  }
  const found = await entries(`object1=team&object_association=role&object_type=project`);
  expect(found.map(({ operation }) => operation)).toEqual(['associate', 'disassociate']);
  expect(found[0]).toMatchObject({
    object1: 'team',
    object2: 'project',
    changes: { object1_pk: home.team.id, object2_pk: project.id, action: 'associate' },
  });
});

it('a grant names its role, also for users and for the whole system', async () => {
  const { as, home, make } = test;
  const project = await make.project({ organization: home.organization.id });
  const role = await make.role('project', project, 'use_role');
  const user = await make.user();
  await make.grant('organization', home.organization, 'member_role', { user });
  await as.superuser.post(`users/${user.id}/roles/`, { id: role.id }).expect(204);
  const [auditor] = (await as.superuser.get('roles/?role_field=system_auditor')).body.results;
  await as.superuser.post(`users/${user.id}/roles/`, { id: auditor.id }).expect(204);
  const path = `users/${user.id}/activity_stream/?object_association=role&order_by=id`;
  const shown = async () =>
    (await as.superuser.get(path).expect(200)).body.results.map(
      (entry: { summary_fields: Row; related: Row }) => ({
        named: entry.summary_fields.role,
        link: entry.related.role,
      }),
    );
  const given = { role_field: 'use_role' };
  const ofSystem = {
    named: [{ id: auditor.id, name: 'system_auditor', role_field: 'system_auditor' }],
    link: [`/api/v2/roles/${auditor.id}/`],
  };
  expect((await shown()).slice(1)).toEqual([
    { named: [{ id: role.id, ...given }], link: [`/api/v2/roles/${role.id}/`] },
    ofSystem,
  ]);
  await as.superuser.delete(`projects/${project.id}/`).expect(204);
  expect((await shown()).slice(1)).toEqual([{ named: [given], link: undefined }, ofSystem]);
});

it('refused requests and rolled-back changes create no entry', async () => {
  const { as, home } = test;
  const before = (await entries('')).length;
  await as.superuser
    .post('teams/', { name: 'Home Team', organization: home.organization.id })
    .expect(400);
  await as.nobody.patch(`teams/${home.team.id}/`, { name: 'x' }).expect(403);
  await as.superuser.patch(`teams/${home.team.id}/`, { organization: 999999 }).expect(400);
  await as.superuser.post(`teams/${home.team.id}/users/`, { id: 999999 }).expect(400);
  expect((await entries('')).length).toBe(before);
});

it('an entry is written in the transaction of the change', async () => {
  const { as, database, home } = test;
  await database.execute(sql`
    ALTER TABLE activity_stream ADD CONSTRAINT no_canary CHECK (object1_name <> 'canary')`);
  const answer = await as.superuser.post('teams/', {
    name: 'canary',
    organization: home.organization.id,
  });
  await database.execute(sql`ALTER TABLE activity_stream DROP CONSTRAINT no_canary`);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect((await as.superuser.get('teams/?name=canary')).body.count).toBe(0);
});

it('an entry contains no secrets', async () => {
  const { as, home } = test;
  const SECRET = 'canary-secret-value';
  const user = await as.superuser
    .post('users/', { username: 'hidden', password: SECRET })
    .expect(201);
  await as.superuser.patch(user.body.url, { password: `${SECRET}-2` }).expect(200);
  const template = await as.superuser.post('notification_templates/', {
    name: 'hidden',
    organization: home.organization.id,
    notification_type: 'chat_b',
    notification_configuration: {
      url: `http://127.0.0.1/${SECRET}`,
      username: '',
      channel: '',
      icon_url: '',
    },
  });
  expect([200, 201]).toContain(template.status);
  const text = JSON.stringify(await entries(''));
  expect(text).not.toContain(SECRET);
  expect(text).toContain('hidden');
});

it('an entry keeps the name of a deleted user', async () => {
  const { as, make, home } = test;
  const user = await make.user({ username: 'leaver' });
  await make.grant('organization', home.organization, 'admin_role', { user });
  const client = await as.asUser(user);
  const { body } = await client
    .post('teams/', { name: 'Left behind', organization: home.organization.id })
    .expect(201);
  await as.superuser.delete(`users/${user.id}/`).expect(204);
  const shown = await as.superuser.get(`${body.url}activity_stream/`);
  expect(shown.body.results[0].summary_fields.actor).toMatchObject({
    username: 'leaver',
    id: null,
  });
});

it('entries cannot be created, changed or deleted', async () => {
  const [first] = await entries('');
  await test.as.superuser.post('activity_stream/', {}).expect(405);
  for (const method of ['put', 'patch', 'delete']) {
    await test.as.superuser.request(method, `activity_stream/${first!.id}/`, {}).expect(405);
  }
});

it('each user sees the entries about readable objects', async () => {
  const { as, home } = test;
  await as.superuser.patch(`users/${as.users.nobody.id}/`, { first_name: 'Seen' }).expect(200);
  const { body } = await as.nobody.get('activity_stream/').expect(200);
  expect(body.count).toBeGreaterThan(0);
  const others = body.results.filter(({ object1 }: Row) => object1 !== 'user');
  expect(others).toEqual([]);
  const about = await as.teamMember.get('activity_stream/?object1=team').expect(200);
  const ids = about.body.results.flatMap(({ summary_fields }: Row) =>
    (summary_fields as { team: Row[] }).team.map(({ id }) => id),
  );
  expect(new Set(ids)).toEqual(new Set([home.team.id]));
});

it('entries about a deleted object are visible to readers of its parent', async () => {
  const { as, home, make } = test;
  const inventory = await make.inventory({ organization: home.organization.id });
  const host = await make.host(inventory, { name: 'doomed-host' });
  const group = await make.group(inventory, { name: 'doomed-group' });
  const user = await make.user();
  await make.grant('inventory', inventory, 'read_role', { user });
  const reader = await as.asUser(user);
  await as.orgAdmin.delete(`hosts/${host.id}/`).expect(204);
  await as.orgAdmin.delete(`groups/${group.id}/`).expect(204);
  const deleted = async (client: typeof reader, path: string): Promise<string[]> => {
    const { body } = await client.get(`${path}?operation=delete&order_by=id`).expect(200);
    return body.results.map(({ changes }: Row) => (changes as { name: string }).name);
  };
  expect(await deleted(reader, 'activity_stream/')).toEqual(['doomed-host', 'doomed-group']);
  expect(await deleted(as.nobody, 'activity_stream/')).toEqual([]);
  const path = `inventories/${inventory.id}/activity_stream/`;
  expect(await deleted(reader, path)).toEqual(['doomed-host', 'doomed-group']);
  await make.revoke('inventory', inventory, 'read_role', { user });
  expect(await deleted(reader, 'activity_stream/')).toEqual([]);
});

it('entries about runs are visible to readers of their template', async () => {
  const { as, home, make } = test;
  const template = await make.jobTemplate({
    project: (await make.project({ organization: home.organization.id })).id,
    inventory: (await make.inventory({ organization: home.organization.id })).id,
  });
  const user = await make.user();
  await make.grant('job_template', template, 'read_role', { user });
  const reader = await as.asUser(user);
  const { body } = await as.superuser.post(`job_templates/${template.id}/launch/`, {}).expect(201);
  const seen = await reader.get(`jobs/${body.id}/activity_stream/`).expect(200);
  expect(seen.body.results).toMatchObject([{ operation: 'create', object1: 'job' }]);
  expect((await as.nobody.get('activity_stream/?object1=job')).body.count).toBe(0);
});

it('entries about an inventory update are visible to readers of the inventory', async () => {
  const { as, home, make } = test;
  const inventory = await make.inventory({ organization: home.organization.id });
  const source = await make.row('inventory_source', {
    ...{ name: 'Cloud', inventory: inventory.id, source: 'ec2' },
  });
  const user = await make.user();
  await make.grant('inventory', inventory, 'read_role', { user });
  const reader = await as.asUser(user);
  const path = `inventory_sources/${source.id}/update/`;
  const { id } = (await as.superuser.post(path, {}).expect(202)).body;
  await as.superuser.post(`inventory_updates/${id}/cancel/`, {}).expect(202);
  await as.superuser.delete(`inventory_updates/${id}/`).expect(204);
  const list = 'activity_stream/?object1=inventory_update&order_by=id';
  expect((await reader.get(list)).body.results).toMatchObject([
    { operation: 'create', changes: { id } },
    { operation: 'update', changes: { id } },
    { operation: 'delete', changes: { id } },
  ]);
  expect((await as.nobody.get(list)).body.count).toBe(0);
});

it('entries about a user show other users no more than they may read otherwise', async () => {
  const { as, home, make } = test;
  const elsewhere = await make.organization();
  const user = await make.user();
  await make.grant('organization', home.organization, 'member_role', { user });
  await make.grant('organization', elsewhere, 'admin_role', { user });
  const client = await as.asUser(user);
  await client
    .post('inventories/', { name: 'elsewhere', organization: elsewhere.id, variables: 'a: secret' })
    .expect(201);
  const path = `users/${user.id}/activity_stream/?object1=inventory`;
  expect((await client.get(path).expect(200)).body.count).toBe(1);
  expect((await as.orgMember.get(path).expect(200)).body.count).toBe(0);
  expect((await as.auditor.get(path).expect(200)).body.count).toBe(1);
  // An auditor of an organization may read the activity of its members.
  const about = `users/${user.id}/activity_stream/?object1=user`;
  expect((await as.orgAdmin.get(about).expect(200)).body.count).toBeGreaterThan(0);
});

it('entries about a team are visible to readers of the team', async () => {
  const { as, home } = test;
  const path = `teams/${home.team.id}/activity_stream/`;
  const { count } = (await as.superuser.get(path).expect(200)).body;
  expect(count).toBeGreaterThan(0);
  for (const who of ['orgMember', 'teamMember', 'orgAdmin', 'auditor'] as const) {
    expect({ who, count: (await as[who].get(path).expect(200)).body.count }).toEqual({
      who,
      count,
    });
  }
});

it('a grant to a team of another organization stays visible to auditors of the organization', async () => {
  const { as, home, make } = test;
  const team = await make.team({ organization: home.otherOrganization.id });
  const role = await make.role('organization', home.organization, 'execute_role');
  await as.superuser.post(`roles/${role.id}/teams/`, { id: team.id }).expect(204);
  await as.superuser.delete(`teams/${team.id}/`).expect(204);
  const path = `organizations/${home.organization.id}/activity_stream/?object1=team`;
  for (const [client, count] of [
    [as.orgAdmin, 1],
    [as.orgMember, 0],
  ] as const) {
    expect((await client.get(path).expect(200)).body.count).toBe(count);
  }
  const { body } = await as.orgAdmin.get('activity_stream/?object1=team&object2=organization');
  expect(body.results).toMatchObject([{ operation: 'associate' }]);
});

it.each(['notification_template', 'execution_environment'])(
  'entries about a %s are visible to its administrators, also after its deletion',
  async (type) => {
    const { as, make } = test;
    const [user, organization] = [await make.user(), await make.organization()];
    const field = `${type.replace('_template', '')}_admin_role`;
    await make.grant('organization', organization, field, { user });
    const owned = { organization: organization.id };
    const { id } =
      type === 'notification_template'
        ? await make.notificationTemplate(owned)
        : await make.row(type, { name: 'Audited', image: 'quay.io/audited/ee', ...owned });
    await as.superuser.patch(`${type}s/${id}/`, { description: 'x' }).expect(200);
    await as.superuser.delete(`${type}s/${id}/`).expect(204);
    const path = `activity_stream/?object1=${type}&order_by=id`;
    const { body } = await (await as.asUser(user)).get(path).expect(200);
    const operations = body.results.map(({ operation }: Row) => operation);
    expect(operations).toEqual(['create', 'update', 'delete']);
    await make.revoke('organization', organization, field, { user });
    expect((await (await as.asUser(user)).get(path).expect(200)).body.count).toBe(0);
  },
);

it('entries about a token are visible to its owner, even if another user created it', async () => {
  const { as } = test;
  const owner = as.users.outsider.id;
  const { body } = await as.superuser.post(`users/${owner}/tokens/`, {}).expect(201);
  const seen = await as.outsider.get(`tokens/${body.id}/activity_stream/`).expect(200);
  expect(seen.body.results).toMatchObject([{ operation: 'create' }]);
});
