/** The stored closure of roles always equals the closure computed from the edges. */
import fc from 'fast-check';

import { migrations } from '../../migrations/index.js';
import { resource, type Row } from '../../src/common/resource/define-resource.js';
import { ResourceService } from '../../src/common/rest/resource.service.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { interleave } from '../support/interleave.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

/** Rows of the stored closure that should not be there, and rows that are missing. */
const drift = (): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    WITH RECURSIVE up (role_id, ancestor_id) AS (
      SELECT id, id FROM roles
      UNION
      SELECT up.role_id, edge.parent_id
      FROM up JOIN role_parents edge ON edge.child_id = up.ancestor_id
    ),
    fresh AS (
      SELECT up.ancestor_id, role.id AS role_id, role.content_type, role.role_field, role.object_id
      FROM up JOIN roles role ON role.id = up.role_id
      -- The two roles of the whole system are flags of the user.
      WHERE role.object_id IS NOT NULL
    ),
    stored AS (SELECT ancestor_id, role_id, content_type, role_field, object_id FROM role_ancestors)
    (SELECT 'stale' AS fault, * FROM (SELECT * FROM stored EXCEPT SELECT * FROM fresh) extra)
    UNION ALL
    (SELECT 'missing', * FROM (SELECT * FROM fresh EXCEPT SELECT * FROM stored) lost)`);

/** Edges and grants of roles or teams that are gone. */
const dangling = (): Promise<Row[]> =>
  test.database.rows<Row>(sql`
    SELECT child_id FROM role_parents WHERE child_id NOT IN (SELECT id FROM roles)
      OR parent_id NOT IN (SELECT id FROM roles)
    UNION ALL SELECT role_id FROM role_teams WHERE team_id NOT IN (SELECT id FROM teams)
    UNION ALL SELECT edge.child_id FROM role_parents edge JOIN roles parent ON parent.id = edge.parent_id
      WHERE edge.via = 'team' AND NOT EXISTS (SELECT 1 FROM role_teams held
        WHERE held.team_id = parent.object_id AND held.role_id = edge.child_id)`);

const expectTrue = async (): Promise<void> => {
  expect(await drift()).toEqual([]);
  expect(await dangling()).toEqual([]);
};

it('the closure of roles is correct after teams get roles of teams and lose them', async () => {
  const { make, home } = test;
  const organization = home.organization.id;
  const [first, second, third] = [
    await make.team({ organization }),
    await make.team({ organization }),
    await make.team({ organization }),
  ];
  const project = await make.project({ organization });
  await make.grant('project', project, 'admin_role', { team: first });
  await make.grant('team', first, 'member_role', { team: second });
  await make.grant('team', second, 'admin_role', { team: third });
  await expectTrue();
  const user = await make.user();
  const client = await test.as.asUser(user);
  await make.grant('team', third, 'member_role', { user });
  await client.get(`projects/${project.id}/`).expect(200);
  await make.revoke('team', second, 'admin_role', { team: third });
  await client.get(`projects/${project.id}/`).expect(403);
  await expectTrue();
});

it('the closure of roles is correct after the team in the middle is deleted', async () => {
  const { as, make, home } = test;
  const organization = home.organization.id;
  const [outer, middle] = [await make.team({ organization }), await make.team({ organization })];
  const project = await make.project({ organization });
  await make.grant('project', project, 'use_role', { team: middle });
  await make.grant('team', middle, 'member_role', { team: outer });
  const user = await make.user();
  await make.grant('team', outer, 'member_role', { user });
  const client = await as.asUser(user);
  await client.get(`projects/${project.id}/`).expect(200);
  await as.superuser.delete(`teams/${middle.id}/`).expect(204);
  await client.get(`projects/${project.id}/`).expect(403);
  await expectTrue();
});

it('the closure of roles is correct after an organization is deleted with its contents', async () => {
  const { as, make } = test;
  const organization = await make.organization();
  const team = await make.team({ organization: organization.id });
  const project = await make.project({ organization: organization.id });
  await make.grant('project', project, 'admin_role', { team });
  await make.grant('organization', organization, 'auditor_role', { team });
  await as.superuser.delete(`organizations/${organization.id}/`).expect(204);
  await expectTrue();
  const { body } = await as.superuser.get(`projects/${project.id}/access_list/`).expect(200);
  expect(
    body.results.every(({ username }: Row) => ['superuser', 'auditor'].includes(String(username))),
  ).toBe(true);
});

it('the closure of roles is correct after objects move to another organization', async () => {
  const { as, make, home } = test;
  const inventory = await make.inventory({ organization: home.organization.id });
  const team = await make.team({ organization: home.organization.id });
  const move = { organization: home.otherOrganization.id };
  await as.superuser.patch(`inventories/${inventory.id}/`, move).expect(200);
  await as.superuser.patch(`teams/${team.id}/`, move).expect(200);
  await expectTrue();
  await as.orgAdmin.get(`inventories/${inventory.id}/`).expect(403);
  await as.outsider.get(`inventories/${inventory.id}/`).expect(200);
});

describe('auditors of the organization of an inventory read the job templates of the inventory', () => {
  const foreignInventory = () =>
    test.make.inventory({ organization: test.home.otherOrganization.id });

  const templateWith = async (inventory: Row): Promise<Row> => {
    const project = await test.make.project({ organization: test.home.organization.id });
    return test.make.jobTemplate({ project: project.id, inventory: inventory.id });
  };

  const expectStatus = async ({ id }: Row, status: number): Promise<void> => {
    await test.as.outsider.get(`job_templates/${id}/`).expect(status);
    await expectTrue();
  };

  it.each<[change: string, (template: Row, inventory: Row) => Promise<void>]>([
    [
      'the inventory moves',
      async (_template, { id }) => {
        const organization = test.home.organization.id;
        await test.as.superuser.patch(`inventories/${id}/`, { organization }).expect(200);
      },
    ],
    [
      'the template has another inventory',
      async ({ id }) => {
        const inventory = (await test.make.inventory()).id;
        await test.as.superuser.patch(`job_templates/${id}/`, { inventory }).expect(200);
      },
    ],
    [
      'the inventory is deleted',
      async (_template, { id }) => {
        await test.as.superuser.delete(`inventories/${id}/`).expect(202);
      },
    ],
  ])('until %s', async (_change, change) => {
    const inventory = await foreignInventory();
    const template = await templateWith(inventory);
    await expectStatus(template, 200);
    await change(template, inventory);
    await expectStatus(template, 403);
  });

  it('if the inventory moves while a template is changed to it', async () => {
    const { as, app, database, home, make } = test;
    const inventory = await make.inventory({ organization: home.organization.id });
    const template = await templateWith(await make.inventory());
    const resources = app.get(ResourceService, { strict: false });
    const { id } = as.users.superuser;
    const actor = { id, username: '', isSuperuser: true, isSystemAuditor: false };
    const body = { inventory: inventory.id };
    const move = { organization: home.otherOrganization.id };
    await interleave<unknown>(database, [
      () => resources.update(resource('job_template'), template, body, actor, { partial: true }),
      async () => as.superuser.patch(`inventories/${inventory.id}/`, move).expect(200),
      async () => undefined,
    ]);
    await expectStatus(template, 200);
  });

  it('after the upgrade from a version without this rule', async () => {
    const { database } = test;
    const template = await templateWith(await foreignInventory());
    const runner = database.dataSource.createQueryRunner();
    const migration = new migrations.ImplyReadersByInventories1795928500000();
    try {
      await migration.down(runner);
      await expectStatus(template, 403);
      await migration.up(runner);
      await expectStatus(template, 200);
    } finally {
      await runner.release();
    }
  });
});

it('the closure of roles is correct after simultaneous creations and grants', async () => {
  const { make, home } = test;
  const organization = home.organization.id;
  const team = await make.team({ organization });
  await Promise.all([
    ...[1, 2, 3, 4].map(() => make.inventory({ organization })),
    make.grant('organization', home.organization, 'inventory_admin_role', { team }),
    make.grant('organization', home.organization, 'auditor_role', { team }),
  ]);
  await expectTrue();
});

describe('the lock of the role graph is taken last, so that a deletion does not wait for', () => {
  const lockGraph = async (): Promise<void> => {
    const row = await test.database.row(sql`SELECT pg_try_advisory_xact_lock(7301) AS taken`);
    expect(row).toEqual({ taken: true });
  };

  it('a change of the organization of a project', async () => {
    const { as, database, home, make } = test;
    const project = await make.project({ organization: home.organization.id });
    const { id } = await make.jobTemplate({ project: project.id });
    const organization = home.otherOrganization.id;
    await interleave(database, [
      () => database.execute(sql`SELECT 1 FROM unified_job_templates WHERE id = ${id} FOR UPDATE`),
      async () => as.superuser.patch(`projects/${project.id}/`, { organization }).expect(200),
      lockGraph,
    ]);
    await expectTrue();
  });

  it.each(['roles', 'teams'])('a grant to a team, by its URL below %s', async (path) => {
    const { as, database, home, make } = test;
    const organization = home.organization.id;
    const team = await make.team({ organization });
    const role = await make.role('project', await make.project({ organization }), 'use_role');
    const [parent, child] = path === 'roles' ? [role, team] : [team, role];
    const other = path === 'roles' ? 'teams' : 'roles';
    await interleave(database, [
      () => database.execute(sql`SELECT 1 FROM teams WHERE id = ${team.id} FOR UPDATE`),
      async () => as.superuser.post(`${path}/${parent.id}/${other}/`, { id: child.id }).expect(204),
      lockGraph,
    ]);
    await expectTrue();
  });
});

it('the lock of the role graph is not taken by a deletion without roles', async () => {
  const { as, database, make } = test;
  const inventory = await make.inventory();
  const fields = { name: 'Cloud', inventory: inventory.id, source: 'ec2' };
  const source = await make.row('inventory_source', fields);
  let isDeleted = false;
  await interleave(database, [
    () => database.execute(sql`SELECT pg_advisory_xact_lock(7301)`),
    async () => {
      await as.superuser.delete(`inventory_sources/${source.id}/`).expect(204);
      isDeleted = true;
    },
    async () => expect(isDeleted).toBe(true),
  ]);
});

it('the closure of roles is correct after any sequence of grants, revocations and deletions', async () => {
  const { make, as } = test;
  const step = fc.record({
    action: fc.constantFrom('grant', 'grant', 'grant', 'revoke', 'delete', 'make'),
    from: fc.nat({ max: 5 }),
    to: fc.nat({ max: 5 }),
    field: fc.constantFrom('admin_role', 'member_role', 'read_role'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const organization = await make.organization();
      const teams: Row[] = [];
      for (let i = 0; i < 4; i++) teams.push(await make.team({ organization: organization.id }));
      for (const { action, from, to, field } of steps) {
        const [holder, held] = [teams[from], teams[to]];
        if (action === 'make') teams.push(await make.team({ organization: organization.id }));
        else if (!holder || !held) continue;
        else if (action === 'delete') {
          await as.superuser.delete(`teams/${held.id}/`).expect(204);
          teams.splice(to, 1);
        } else {
          const role = await make.role('team', held, field);
          const body = { id: holder.id, disassociate: action === 'revoke' };
          const { status } = await as.superuser.post(`roles/${role.id}/teams/`, body);
          expect([204, 400]).toContain(status);
        }
      }
      await expectTrue();
      await as.superuser.delete(`organizations/${organization.id}/`).expect(204);
      await expectTrue();
    }),
    { numRuns: 8 },
  );
});
