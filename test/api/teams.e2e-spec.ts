import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const namesOf = (rows: Row[]): unknown[] => rows.map(({ name, username }) => name ?? username);

const RIGHTS: Record<
  PersonaName,
  readonly [read: number, change: number, add: number, members: number, remove: number]
> = {
  superuser: [200, 200, 201, 204, 204],
  auditor: [200, 403, 403, 403, 403],
  orgAdmin: [200, 200, 201, 204, 204],
  orgMember: [200, 403, 403, 403, 403],
  teamAdmin: [200, 200, 403, 204, 204],
  teamMember: [200, 403, 403, 403, 403],
  // Administrators of any organization see all teams.
  outsider: [200, 403, 403, 403, 403],
  nobody: [403, 403, 403, 403, 403],
};

describe.each(PERSONA_NAMES)('%s', (name) => {
  const [read, change, add, members, remove] = RIGHTS[name];

  it(`gets ${read} reading, ${change} changing, ${add} adding, ${members} with members, ${remove} deleting`, async () => {
    const { as, home, make } = test;
    const team = await make.team({ organization: home.organization.id });
    await make.grant('team', team, 'admin_role', { user: as.users.teamAdmin });
    await make.grant('team', team, 'member_role', { user: as.users.teamMember });
    const url = `teams/${team.id}/`;
    await as[name].get(url).expect(read);
    await as[name].patch(url, { description: `by ${name}` }).expect(change);
    await as[name].put(url, { ...team, organization: home.organization.id }).expect(change);
    await as[name]
      .post('teams/', { name: `by ${name}`, organization: home.organization.id })
      .expect(add);
    await as[name]
      .post(`organizations/${home.organization.id}/teams/`, { name: `below, by ${name}` })
      .expect(add);
    // Adding a member requires permission to read the user; every user may read superusers.
    const member = { id: as.users.superuser.id };
    await as[name].post(`${url}users/`, member).expect(members);
    await as[name].post(`${url}users/`, { ...member, disassociate: true }).expect(members);
    await as[name].delete(url).expect(remove);
  });
});

it('a team has the links and summaries of the contract', async () => {
  const { body } = await test.as.orgAdmin.get(`teams/${test.home.team.id}/`).expect(200);
  expect(Object.keys(body.related)).toEqual(
    expect.arrayContaining([
      'organization',
      'users',
      'projects',
      'credentials',
      'roles',
      'object_roles',
      'activity_stream',
      'access_list',
      'created_by',
      'modified_by',
    ]),
  );
  expect(body.summary_fields).toMatchObject({
    organization: { id: test.home.organization.id, name: 'Home' },
    object_roles: {
      admin_role: { name: 'Admin' },
      member_role: { name: 'Member' },
      read_role: { name: 'Read' },
    },
    user_capabilities: { edit: true, delete: true },
    created_by: { username: 'superuser' },
  });
  for (const path of Object.values(body.related) as string[]) {
    await test.as.superuser.get(path).expect(200);
  }
});

it('a team shows only the name of an organization that is not readable', async () => {
  const { body } = await test.as.teamMember.get(`teams/${test.home.team.id}/`).expect(200);
  expect(body.organization).toBe(test.home.organization.id);
  const { id, name } = test.home.organization;
  expect(body.summary_fields.organization).toEqual({ id, name });
  await test.as.teamMember.get(body.related.organization).expect(403);
});

it('a team is moved by superusers only, and is then managed by the new organization', async () => {
  const { as, home, make } = test;
  const team = await make.team({ organization: home.organization.id });
  const url = `teams/${team.id}/`;
  const move = { organization: home.otherOrganization.id };
  await make.grant('organization', home.otherOrganization, 'admin_role', {
    user: as.users.orgAdmin,
  });
  const { body } = await as.orgAdmin.patch(url, move).expect(403);
  expect(body).toEqual({ detail: 'Unable to change organization on a team.' });
  await make.revoke('organization', home.otherOrganization, 'admin_role', {
    user: as.users.orgAdmin,
  });
  await as.outsider.patch(url, { description: 'x' }).expect(403);
  await as.superuser.patch(url, move).expect(200);
  await as.outsider.patch(url, { description: 'mine now' }).expect(200);
  await as.orgAdmin.patch(url, { description: 'x' }).expect(403);
});

it('a team with a role on a credential of its organization is not moved', async () => {
  const { as, home, make } = test;
  const team = await make.team({ organization: home.organization.id });
  const credential = await make.credential({ organization: home.organization.id });
  await make.grant('credential', credential, 'use_role', { team });
  const url = `teams/${team.id}/`;
  const move = { organization: home.otherOrganization.id };
  expect((await as.superuser.patch(url, move).expect(400)).body).toEqual({
    organization: ['The team has roles on credentials of its organization.'],
  });
  await as.outsider.get(`credentials/${credential.id}/`).expect(403);
  await make.revoke('credential', credential, 'use_role', { team });
  await as.superuser.patch(url, move).expect(200);
});

describe('members', () => {
  it('are listed if the caller can read them', async () => {
    const { body } = await test.as.orgMember.get(`teams/${test.home.team.id}/users/`).expect(200);
    // A member of the organization cannot see the user, who belongs to no organization.
    expect(namesOf(body.results)).toEqual([]);
    const all = await test.as.orgAdmin.get(`teams/${test.home.team.id}/users/`).expect(200);
    expect(namesOf(all.body.results)).toEqual(['teamMember']);
  });

  it('members must be readable by the caller who adds them', async () => {
    const { as, home } = test;
    const url = `teams/${home.team.id}/users/`;
    await as.teamAdmin.post(url, { id: as.users.outsider.id }).expect(403);
    await as.teamMember.post(url, { id: as.users.teamMember.id, disassociate: true }).expect(403);
  });

  it('without an id are new users, created by administrators of the organization', async () => {
    const { as, home } = test;
    const url = `teams/${home.team.id}/users/`;
    await as.teamAdmin.post(url, { username: 'newcomer', password: '' }).expect(403);
    await as.outsider.post(url, { username: 'newcomer', password: '' }).expect(403);
    await as.orgAdmin.post(url, { username: 'newcomer', password: '' }).expect(201);
    const { body } = await as.superuser.get(`${url}?username=newcomer`);
    expect(body.count).toBe(1);
    await as.superuser.delete(`users/${body.results[0].id}/`).expect(204);
  });

  it('have the roles of the team, and lose them with the team', async () => {
    const { as, make } = test;
    const organization = await make.organization();
    const team = await make.team({ organization: organization.id });
    const project = await make.project({ organization: organization.id });
    await make.grant('project', project, 'use_role', { team });
    const path = `teams/${team.id}/projects/`;
    expect((await as.superuser.get(path)).body.count).toBe(1);
    await make.project({ organization: organization.id });
    await make.grant('organization', organization, 'project_admin_role', { team });
    const visible = await as.superuser.get(`organizations/${organization.id}/projects/`);
    expect((await as.superuser.get(path)).body).toMatchObject({
      count: 2,
      results: visible.body.results,
    });
    const user = await make.user();
    const client = await as.asUser(user);
    const sees = async (): Promise<number> =>
      (await client.get(`users/${user.id}/projects/`)).body.count;
    expect(await sees()).toBe(0);
    await as.superuser.post(`teams/${team.id}/users/`, { id: user.id }).expect(204);
    expect(await sees()).toBe(2);
    await as.superuser.delete(`teams/${team.id}/`).expect(204);
    expect(await sees()).toBe(0);
  });
});
