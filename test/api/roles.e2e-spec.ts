import type { Row } from '../../src/common/resource/define-resource.js';
import { RoleStore } from '../../src/common/access.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { PERSONA_NAMES, type PersonaName } from '../support/personas.js';

let test: TestApp;
let project: Row;
beforeAll(async () => {
  test = await boot();
  project = await test.make.project({ organization: test.home.organization.id });
});
afterAll(() => test.close());

const roleId = async (type: string, object: Row, field: string): Promise<number> =>
  (await test.make.role(type, object, field)).id;

describe('a role', () => {
  it('shows its purpose and its object', async () => {
    const id = await roleId('project', project, 'use_role');
    const { body } = await test.as.orgAdmin.get(`roles/${id}/`).expect(200);
    expect(body).toMatchObject({
      type: 'role',
      name: 'Use',
      description: 'Can use the project in a job template',
      related: {
        users: `/api/v2/roles/${id}/users/`,
        teams: `/api/v2/roles/${id}/teams/`,
        project: `/api/v2/projects/${project.id}/`,
      },
      summary_fields: {
        resource_name: project.name,
        resource_id: project.id,
        resource_type: 'project',
        resource_type_display_name: 'Project',
      },
    });
    expect(body).not.toHaveProperty('role_field');
  });

  it('of the whole system belongs to no object', async () => {
    const { body } = await test.as.nobody.get('roles/?object_id__isnull=true').expect(200);
    expect(body.results.map(({ name }: Row) => name)).toEqual([
      'System Administrator',
      'System Auditor',
    ]);
    expect(body.results[0].summary_fields).toEqual({});
  });

  it('below a user or a team shows whether the caller can revoke it', async () => {
    const { as, home, make } = test;
    const project = await make.project({ organization: home.organization.id });
    const foreign = await make.project({ organization: home.otherOrganization.id });
    const user = as.users.teamMember;
    await make.grant('project', project, 'use_role', { team: home.team });
    for (const one of [project, foreign]) await make.grant('project', one, 'use_role', { user });
    const shown = async (client: ApiClient, holder: string, object: Row) => {
      const query = `roles/?content_type=project&object_id=${object.id}`;
      const { body } = await client.get(`${holder}/${query}`).expect(200);
      return body.results.map((role: { id: number; summary_fields: Row }) => [
        role.id,
        role.summary_fields.user_capabilities,
      ]);
    };
    const holders = [`users/${user.id}`, `teams/${home.team.id}`];
    for (const holder of holders) {
      const role = await roleId('project', project, 'use_role');
      const one = (unattach: boolean) => [[role, { unattach }]];
      expect(await shown(as.orgAdmin, holder, project)).toEqual(one(true));
      expect(await shown(as.teamMember, holder, project)).toEqual(one(false));
      await as.orgAdmin.post(`${holder}/roles/`, { id: role, disassociate: true }).expect(204);
    }
    const role = await roleId('project', foreign, 'use_role');
    expect(await shown(as.teamMember, holders[0]!, foreign)).toEqual([[role, { unattach: false }]]);
    expect(await shown(as.superuser, holders[0]!, foreign)).toEqual([[role, { unattach: true }]]);
  });

  it('is visible to users with any role on its object', async () => {
    const { as, home } = test;
    const count = async (client: ApiClient): Promise<number> =>
      (await client.get(`roles/?content_type=team&object_id=${home.team.id}`)).body.count;
    expect(await count(as.teamMember)).toBe(3);
    expect(await count(as.orgAdmin)).toBe(3);
    expect(await count(as.nobody)).toBe(0);
    await as.nobody.get(`roles/${await roleId('team', home.team, 'admin_role')}/`).expect(403);
  });

  it('shows its parents and children', async () => {
    const id = await roleId('team', await test.make.team(), 'member_role');
    const parents = await test.as.superuser.get(`roles/${id}/parents/`).expect(200);
    expect(parents.body.results.map(({ name }: Row) => name)).toEqual(['Admin']);
    const children = await test.as.superuser.get(`roles/${id}/children/`).expect(200);
    expect(children.body.results.map(({ name }: Row) => name)).toEqual(['Read']);
    await test.as.superuser.get('roles/999999/parents/').expect(404);
  });

  it('cannot be created, changed or deleted', async () => {
    const id = await roleId('team', test.home.team, 'member_role');
    await test.as.superuser.post('roles/', {}).expect(405);
    for (const method of ['put', 'patch', 'delete']) {
      await test.as.superuser.request(method, `roles/${id}/`, {}).expect(405);
    }
  });
});

describe('granting', () => {
  /** Status of granting and revoking a project role and a team role. */
  const RIGHTS: Record<PersonaName, readonly [project: number, team: number]> = {
    superuser: [204, 204],
    auditor: [403, 403],
    orgAdmin: [204, 204],
    orgMember: [403, 403],
    teamAdmin: [403, 204],
    teamMember: [403, 403],
    outsider: [403, 403],
    nobody: [403, 403],
  };

  it.each(PERSONA_NAMES)('is permitted to %s by the rules', async (name) => {
    const { as, home } = test;
    const [onProject, onTeam] = RIGHTS[name];
    const useRole = await roleId('project', project, 'use_role');
    const readRole = await roleId('team', home.team, 'read_role');
    const user = { id: as.users.superuser.id };
    for (const more of [{}, { disassociate: true }]) {
      await as[name].post(`roles/${useRole}/users/`, { ...user, ...more }).expect(onProject);
      await as[name].post(`roles/${readRole}/users/`, { ...user, ...more }).expect(onTeam);
      const fromUser = `users/${user.id}/roles/`;
      await as[name].post(fromUser, { id: useRole, ...more }).expect(onProject);
      const team = { id: home.team.id, ...more };
      await as[name].post(`roles/${useRole}/teams/`, team).expect(onProject);
      await as[name]
        .post(`teams/${home.team.id}/roles/`, { id: useRole, ...more })
        .expect(onProject);
    }
  });

  it('to a team applies to every member, in two steps as in the contract', async () => {
    const { as, home } = test;
    const { body } = await as.orgAdmin.get(`projects/${project.id}/object_roles/`).expect(200);
    const read = body.results.find(({ name }: Row) => name === 'Read');
    await as.teamMember.get(`projects/${project.id}/`).expect(403);
    await as.orgAdmin.post(`roles/${read.id}/teams/`, { id: home.team.id }).expect(204);
    await as.teamMember.get(`projects/${project.id}/`).expect(200);
    await as.teamAdmin.get(`projects/${project.id}/`).expect(200);
    const ofProject = `content_type=project&object_id=${project.id}`;
    const roles = await as.teamMember.get(`teams/${home.team.id}/roles/?${ofProject}`).expect(200);
    expect(roles.body.results.map(({ id }: Row) => id)).toEqual([read.id]);
    const teams = await as.orgAdmin.get(`roles/${read.id}/teams/`).expect(200);
    expect(teams.body.results.map(({ id }: Row) => id)).toEqual([home.team.id]);
    await as.orgAdmin
      .post(`roles/${read.id}/teams/`, { id: home.team.id, disassociate: true })
      .expect(204);
    await as.teamMember.get(`projects/${project.id}/`).expect(403);
  });

  it.each([
    [
      'participation in an organization',
      () => roleId('organization', test.home.organization, 'member_role'),
      'You cannot assign an Organization participation role as a child role for a Team.',
    ],
    [
      'administration of an organization',
      () => roleId('organization', test.home.organization, 'admin_role'),
      'You cannot assign an Organization participation role as a child role for a Team.',
    ],
    [
      'a role of the whole system',
      async () =>
        (await test.as.superuser.get('roles/?role_field=system_auditor')).body.results[0].id,
      'You cannot grant system-level permissions to a team.',
    ],
    [
      'a credential of no organization',
      async () => {
        const user = test.as.users.superuser.id;
        return roleId('credential', await test.make.credential({ user }), 'use_role');
      },
      /^You cannot grant credential access to a team when the Organization field isn't set/,
    ],
    [
      'a credential of another organization',
      async () => {
        const organization = test.home.otherOrganization.id;
        return roleId('credential', await test.make.credential({ organization }), 'use_role');
      },
      /^You cannot grant credential access to a team when/,
    ],
  ])('a team %s is refused', async (_case, role, text) => {
    const { body } = await test.as.superuser
      .post(`roles/${await role()}/teams/`, { id: test.home.team.id })
      .expect(400);
    expect(body).toEqual({ detail: typeof text === 'string' ? text : expect.stringMatching(text) });
  });

  it('a team its own membership, directly or in a cycle, is refused', async () => {
    const { as, make, home } = test;
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => make.team({ organization: home.organization.id })),
    );
    const grant = async (of: Row, to: Row) =>
      as.superuser.post(`roles/${await roleId('team', of, 'member_role')}/teams/`, { id: to.id });
    expect((await grant(first!, first!)).status).toBe(400);
    expect((await grant(first!, second!)).status).toBe(204);
    expect((await grant(second!, third!)).status).toBe(204);
    const circle = await grant(third!, first!);
    expect(circle.status).toBe(400);
    expect(circle.body).toEqual({ detail: 'This grant would make a team a member of itself.' });
    expect((await grant(first!, third!)).status).toBe(204);
  });

  it('a credential is permitted to members of its organization only', async () => {
    const { as, home, make } = test;
    const credential = await make.credential({ organization: home.organization.id });
    const role = await roleId('credential', credential, 'use_role');
    await as.orgAdmin.post(`roles/${role}/users/`, { id: as.users.orgMember.id }).expect(204);
    const { body } = await as.orgAdmin
      .post(`roles/${role}/users/`, { id: as.users.nobody.id })
      .expect(400);
    expect(body).toEqual({
      detail: "You cannot grant credential access to a user not in the credentials' organization",
    });
  });

  it('of the whole system sets the flag, and is permitted to superusers only', async () => {
    const { as, make } = test;
    const { body } = await as.superuser.get('roles/?role_field=system_auditor');
    const url = `roles/${body.results[0].id}/users/`;
    const user = await make.user();
    await as.orgAdmin.post(url, { id: user.id }).expect(403);
    await as.superuser.post(url, { id: user.id }).expect(204);
    expect((await as.superuser.get(`users/${user.id}/`)).body.is_system_auditor).toBe(true);
    const listed = async () => [
      (await as.superuser.get(`${url}?id=${user.id}`).expect(200)).body.count,
      (await as.superuser.get(`users/${user.id}/roles/`).expect(200)).body.results,
    ];
    const unattach = { user_capabilities: { unattach: true } };
    const role = { name: 'System Auditor', summary_fields: unattach };
    expect(await listed()).toEqual([1, [expect.objectContaining(role)]]);
    await as.superuser.post(url, { id: user.id, disassociate: true }).expect(204);
    expect((await as.superuser.get(`users/${user.id}/`)).body.is_system_auditor).toBe(false);
    expect(await listed()).toEqual([0, []]);
  });

  it.each([
    ['users', {}, "User 'id' field is missing."],
    ['teams', {}, "Team 'id' field is missing."],
    ['users', { id: 999999 }, 'User matching query does not exist.'],
    ['teams', { id: 999999 }, 'Team matching query does not exist.'],
    ['teams', { id: 'abc' }, '"id" field must be an integer.'],
  ])('on %s with %j is refused', async (list, sent, detail) => {
    const role = await roleId('project', project, 'read_role');
    const { body } = await test.as.superuser.post(`roles/${role}/${list}/`, sent).expect(400);
    expect(body).toEqual({ detail });
  });

  it('a role that does not exist is refused', async () => {
    await test.as.superuser.post('roles/999999/teams/', { id: test.home.team.id }).expect(404);
    const { body } = await test.as.superuser
      .post(`teams/${test.home.team.id}/roles/`, { id: 999999 })
      .expect(400);
    expect(body).toEqual({ detail: 'Role matching query does not exist.' });
    const missing = await test.as.superuser
      .post(`teams/${test.home.team.id}/roles/`, {})
      .expect(400);
    expect(missing.body).toEqual({ detail: "Role 'id' field is missing." });
  });

  it('to an unreadable user is refused', async () => {
    const role = await roleId('team', test.home.team, 'read_role');
    await test.as.teamAdmin
      .post(`roles/${role}/users/`, { id: test.as.users.outsider.id })
      .expect(403);
  });
});

describe('the creator of an object', () => {
  it('gets the admin role of an object created with other permissions', async () => {
    const { as, home, make } = test;
    const maker = await make.user();
    const inventory = await make.inventory({ organization: home.organization.id });
    await make.grant('project', project, 'use_role', { user: maker });
    await make.grant('inventory', inventory, 'use_role', { user: maker });
    const client = await as.asUser(maker);
    const { body } = await client
      .post('job_templates/', {
        name: 'made',
        project: project.id,
        inventory: inventory.id,
        playbook: 'site.yml',
      })
      .expect(201);
    await client.patch(body.url, { description: 'mine' }).expect(200);
    const access = await client.get(`${body.url}access_list/?id=${maker.id}`).expect(200);
    expect(access.body.results[0].summary_fields.direct_access).toHaveLength(1);
  });

  it('gets no role that the user already has', async () => {
    const { as, home } = test;
    const { body } = await as.orgAdmin
      .post('inventories/', { name: 'made', organization: home.organization.id })
      .expect(201);
    const holders = await as.superuser.get(
      `roles/${body.summary_fields.object_roles.admin_role.id}/users/`,
    );
    expect(holders.body.count).toBe(0);
  });

  it('gets no role on a credential of a team that the user administers', async () => {
    const { as, home, make } = test;
    const user = await make.user();
    await make.grant('team', home.team, 'admin_role', { user });
    const client = await as.asUser(user);
    const type = (await make.credential()).credential_type_id;
    const { body } = await client
      .post('credentials/', { name: 'shared', credential_type: type, team: home.team.id })
      .expect(201);
    const admins = `roles/${body.summary_fields.object_roles.admin_role.id}`;
    expect((await as.superuser.get(`${admins}/users/`).expect(200)).body.count).toBe(0);
    expect((await as.superuser.get(`${admins}/teams/`).expect(200)).body.count).toBe(1);
    await client.patch(body.url, { description: 'by the team' }).expect(200);
    await make.revoke('team', home.team, 'admin_role', { user });
    await client.get(body.url).expect(403);
  });
});

describe('access_list', () => {
  it('shows who has access and by which role', async () => {
    const { as, home, make } = test;
    const inventory = await make.inventory({ organization: home.organization.id });
    await make.grant('inventory', inventory, 'use_role', { user: as.users.orgMember });
    await make.grant('inventory', inventory, 'adhoc_role', { team: home.team });
    const { body } = await as.superuser.get(`inventories/${inventory.id}/access_list/`).expect(200);
    const of = (name: PersonaName): { direct_access: Row[]; indirect_access: Row[] } =>
      body.results.find(({ username }: Row) => username === name)?.summary_fields;
    expect(body.results.map(({ username }: Row) => username)).toEqual([
      'auditor',
      'orgAdmin',
      'orgMember',
      'superuser',
      'teamAdmin',
      'teamMember',
    ]);
    expect(of('orgMember').direct_access).toMatchObject([
      {
        role: { name: 'Use', resource_type: 'inventory' },
        descendant_roles: expect.arrayContaining(['read_role', 'use_role']),
      },
    ]);
    expect(of('teamMember').direct_access).toMatchObject([
      { role: { name: 'Ad Hoc', team_id: home.team.id, team_name: 'Home Team' } },
    ]);
    expect(of('superuser').indirect_access).toMatchObject([
      { role: { name: 'System Administrator' } },
    ]);
    expect(of('auditor').indirect_access).toMatchObject([{ descendant_roles: ['read_role'] }]);
    expect(of('orgAdmin').indirect_access).toMatchObject([
      { role: { resource_type: 'organization', resource_name: 'Home' } },
    ]);
  });

  it('hides users whom the caller may not see', async () => {
    const { body } = await test.as.teamMember
      .get(`teams/${test.home.team.id}/access_list/`)
      .expect(200);
    const names = body.results.map(({ username }: Row) => username);
    expect(names).toContain('teamMember');
    expect(names).not.toContain('orgAdmin');
  });
});

it('roles that a user holds in several ways are complete, or too many for a statement', async () => {
  const { as, app, database, make } = test;
  const user = await make.user();
  const [one, other] = [await make.team({}), await make.team({})];
  for (const team of [one, other]) await make.grant('team', team, 'member_role', { user });
  const [first, second] = [
    await roleId('team', one, 'member_role'),
    await roleId('team', other, 'member_role'),
  ];
  await database.execute(sql`
    WITH made AS (
      INSERT INTO roles (content_type, object_id, role_field)
      SELECT 'project', 1000000 + number, 'read_role' FROM generate_series(1, 2500) number
      RETURNING id, object_id - 1000000 AS number)
    INSERT INTO role_ancestors (ancestor_id, role_id, content_type, role_field, object_id)
    SELECT ancestor, made.id, 'project', 'read_role', 1000000 + number
    FROM made CROSS JOIN unnest(${[first, second]}::int[]) ancestor
    WHERE CASE WHEN ancestor = ${first}::int THEN number <= 1500 ELSE number <= 500 OR number > 1500 END`);
  const { id, username } = user;
  const actor = { id, username: String(username), isSuperuser: false, isSystemAuditor: false };
  expect(await app.get(RoleStore, { strict: false }).heldBy(actor)).toBeNull();
  const reader = as.users.nobody;
  expect(
    await app.get(RoleStore, { strict: false }).heldBy({ ...actor, id: reader.id }),
  ).not.toBeNull();
  await database.execute(sql`DELETE FROM roles WHERE object_id > 1000000`);
});
