/** Lists of roles offer exactly the grants and revocations that the routes permit. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql, type Sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { interleave } from '../support/interleave.js';
import { PERSONA_NAMES } from '../support/personas.js';

interface Entry {
  role: {
    id: number | null;
    name: string;
    team_id?: number;
    user_capabilities: { unattach: boolean };
  };
}

let test: TestApp;
afterEach(() => test.close());

/** Returns every entry of an access list, with its user. */
async function entries(name: (typeof PERSONA_NAMES)[number], url: string) {
  const { body, status } = await test.as[name].get(`${url}access_list/?page_size=200`);
  if (status === 403) return [];
  return (body.results as Row[]).flatMap((user) => {
    const { direct_access: direct, indirect_access: indirect } = user.summary_fields as Record<
      string,
      Entry[]
    >;
    return [...(direct ?? []), ...(indirect ?? [])].map(({ role }) => ({ user, role }));
  });
}

it.each([
  ['as it is delivered', {}],
  ['where membership comes from elsewhere', { MANAGE_ORGANIZATION_AUTH: '0' }],
])('an access list shows which roles the caller may revoke, %s', async (_case, settings) => {
  test = await boot({ settings });
  const { as, home, make } = test;
  const inventory = await make.inventory({ organization: home.organization.id });
  await make.grant('inventory', inventory, 'admin_role', { user: as.users.teamMember });
  await make.grant('inventory', inventory, 'use_role', { user: as.users.outsider });
  await make.grant('inventory', inventory, 'adhoc_role', { team: home.team });
  const seen = { yes: 0, no: 0 };
  for (const name of PERSONA_NAMES) {
    for (const url of [`inventories/${inventory.id}/`, `teams/${home.team.id}/`]) {
      for (const { user, role } of await entries(name, url)) {
        if (role.id === null) continue;
        const [path, id] =
          role.team_id === undefined
            ? [`roles/${role.id}/users/`, user.id]
            : [`roles/${role.id}/teams/`, role.team_id];
        const { status } = await as[name].post(path, { id, disassociate: true });
        const may = role.user_capabilities.unattach;
        expect([name, path, id, status]).toEqual([name, path, id, may ? 204 : 403]);
        await as.superuser.post(path, { id }).expect(204);
        seen[may ? 'yes' : 'no'] += 1;
      }
    }
  }
  expect(seen.yes).toBeGreaterThan(10);
  expect(seen.no).toBeGreaterThan(10);
});

it('roles are found by their display names, if the caller may grant them', async () => {
  test = await boot();
  const { as, home, make, database } = test;
  const organization = home.organization.id;
  const project = await make.project({ name: 'Shop playbooks', organization });
  const template = await make.jobTemplate({ name: 'Deploy the shop', project: project.id });
  const elsewhere = await make.jobTemplate({ name: 'Deploy elsewhere' });
  const called = async (who: 'superuser' | 'orgAdmin' | 'nobody', words: string) => {
    const { body } = await as[who]
      .get(`roles/?role_level=admin_role&called=${encodeURIComponent(words)}`)
      .expect(200);
    return (body.results as Row[]).map(({ name, summary_fields }) => {
      const { resource_id: id } = summary_fields as { resource_id: number };
      return `${String(name)} ${id}`;
    });
  };
  const execute = `Execute ${template.id}`;
  expect(await called('orgAdmin', 'Execute on Deploy the shop')).toEqual([execute]);
  expect(await called('orgAdmin', 'exec shop')).toEqual([execute]);
  expect(await called('orgAdmin', 'execute deploy')).toEqual([execute]);
  expect(await called('superuser', 'execute deploy')).toEqual([execute, `Execute ${elsewhere.id}`]);
  expect(await called('orgAdmin', 'approve nothing like it')).toEqual([]);
  expect(await called('nobody', 'execute deploy')).toEqual([]);
  await as.superuser.get('roles/?role_level=nonsense').expect(400);
  // All types of objects that have roles, including future ones.
  const kinds = await database.rows<{ type: string; id: number }>(sql`
    SELECT content_type AS type, min(object_id) AS id FROM roles
    WHERE object_id IS NOT NULL GROUP BY content_type`);
  for (const { type, id } of kinds) {
    const found = await as.superuser.get(`roles/?${type}__id=${id}`).expect(200);
    expect(found.body.count).toBeGreaterThan(1);
  }
});

it('a grant of a role whose object is being deleted is refused', async () => {
  test = await boot();
  const { as, home, make, database } = test;
  const organization = home.organization.id;
  const user = as.users.orgMember.id;
  const statusDuring = async (deletion: Sql, path: string, id: unknown): Promise<number> => {
    let status = 0;
    await interleave(database, [
      () => database.execute(deletion),
      async () => ({ status } = await as.superuser.post(path, { id })),
      () => Promise.resolve(),
    ]);
    return status;
  };
  const team = await make.team({ organization });
  const deletion = sql`DELETE FROM teams WHERE id = ${team.id}`;
  expect(await statusDuring(deletion, `teams/${team.id}/users/`, user)).toBe(404);
  for (const [holders, id] of [
    ['users', user],
    ['teams', home.team.id],
  ] as const) {
    const inventory = await make.inventory({ organization });
    const { id: role } = await make.role('inventory', inventory, 'use_role');
    const deletion = sql`DELETE FROM inventories WHERE id = ${inventory.id}`;
    expect(await statusDuring(deletion, `roles/${role}/${holders}/`, id)).toBe(404);
  }
});
