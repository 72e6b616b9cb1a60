/**
 * Bodies cannot refer to objects that the caller may not use: every reference of every resource, and bulk
 * requests with mixed ids.
 *
 * Budget: 25 s, because it creates every resource with references to objects of others.
 */
import type { RouteInfo } from '../../src/common/rest/route.js';
import { RouteTable, type TableRoute } from '../../src/common/rest/route-table.service.js';
import { resources, type Row } from '../../src/common/resource/define-resource.js';
import type { ResourceHooks } from '../../src/common/rest/hooks.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
let samples: Samples;
/** Objects of another organization, by type, that the administrator of home may not use. */
let foreign: Record<string, Row>;
beforeAll(async () => {
  test = await boot({ settings: { ORG_ADMINS_CAN_SEE_ALL_USERS: '0' } });
  samples = new Samples(test);
  const { make, home } = test;
  const organization = home.otherOrganization.id;
  const inventory = await make.inventory({ organization });
  const project = await make.project({ organization });
  foreign = {
    organization: home.otherOrganization,
    inventory,
    project,
    user: await make.user(),
    team: await make.team({ organization }),
    credential: await make.credential({ organization }),
    job_template: await make.jobTemplate({ project: project.id, inventory: inventory.id }),
    notification_template: await make.notificationTemplate({ organization }),
    label: await make.row('label', { name: 'foreign', organization }),
    host: await make.host(inventory),
    group: await make.group(inventory),
  };
});
afterAll(() => test.close());

const isPrompt = (type: string, name: string): boolean =>
  type === 'workflow_job_template_node' && name === 'inventory';

/**
 * Returns the status of a refusal. Objects below those of superusers are closed to organization
 * administrators.
 */
const refusalOf = ({ parent, needs }: RouteInfo): number =>
  parent?.policy.listRefusal === undefined && needs !== 'self' ? 400 : 403;

const routes = (): TableRoute[] =>
  test.app
    .get(RouteTable, { strict: false })
    .routes.filter(({ pattern }) => pattern.startsWith('/api/v2'));

describe('every reference in a creation', () => {
  it('to an unreadable or missing object is refused or ignored', async () => {
    const faults: string[] = [];
    const refused = new Set<string>();
    for (const route of routes()) {
      const { method, info } = route;
      if (method !== 'POST' || info?.kind !== 'create' || !info.body) continue;
      const path = await samples.pathOf(route);
      for (const field of info.body) {
        if (field.kind !== 'reference' || field.readOnly || !field.target) continue;
        const row = foreign[field.target().type];
        const send = async (id: number): Promise<number> => {
          const body = { ...(await bodyOf(samples, route)), [field.name]: id };
          // Exactly one of them owns a credential.
          if (['user', 'team'].includes(field.name)) body.organization = undefined;
          const answer = await test.as.orgAdmin.post(path, body);
          const taken = answer.status < 300 && answer.body[field.name] === id;
          if (taken) faults.push(`${path} took ${field.name} ${id}`);
          return answer.status;
        };
        const missing = await send(2_000_000_000);
        const others = row ? await send(row.id) : 403;
        // A value from the URL overrides the one in the body, so nothing is refused.
        const isInUrl = info.parent !== undefined && missing === 201;
        if (!isInUrl && missing !== refusalOf(info))
          faults.push(`${path} ${field.name} to none: ${missing}`);
        // A prompt that the template of a node does not ask for is not stored.
        if (
          !isInUrl &&
          ![400, 403].includes(others) &&
          !isPrompt(info.resource!.type, field.name)
        ) {
          faults.push(`${path} ${field.name} to others: ${others}`);
        }
        if (row && others === 403) refused.add(field.target().type);
      }
    }
    expect(faults).toEqual([]);
    expect([...refused].sort()).toEqual(
      expect.arrayContaining(['inventory', 'organization', 'project', 'team', 'user']),
    );
  }, 60_000);

  it('is refused before a hook compares the object with other values', async () => {
    const requests = [];
    samples.reset();
    // Lists below an object create objects by the same rules as the top-level list.
    for (const route of routes().filter(({ info }) => info?.kind !== 'create' || !info.parent)) {
      const verb = { create: 'post', modify: 'patch' }[String(route.info?.kind)];
      const fields = (route.info?.body ?? []).flatMap((field) => {
        const row = field.kind === 'reference' && !field.readOnly && field.target?.();
        const id = row ? foreign[row.type]?.id : undefined;
        return id === undefined ? [] : [{ [field.name]: id }];
      });
      if (verb !== 'post' && verb !== 'patch') continue;
      const path = await samples.pathOf(route);
      for (const sent of fields) {
        requests.push({
          verb,
          path,
          body: { ...(await bodyOf(samples, route)), ...sent },
        } as const);
      }
    }
    const hooks = resources().flatMap(({ hooks: type }) =>
      type ? [test.app.get<ResourceHooks>(type, { strict: false })] : [],
    );
    const spies = [...new Set(hooks)].flatMap((one) => [
      ...(one.prepareCreate ? [jest.spyOn(one, 'prepareCreate')] : []),
      ...(one.prepareUpdate ? [jest.spyOn(one, 'prepareUpdate')] : []),
    ]);
    const faults: string[] = [];
    let refused = 0;
    for (const { verb, path, body } of requests) {
      spies.forEach((spy) => spy.mockClear());
      const { status } = await test.as.orgAdmin[verb](path, body);
      const isCalled = spies.some((spy) => spy.mock.calls.length > 0);
      if (status === 403) refused += 1;
      if (status >= 400 && isCalled)
        faults.push(`${verb} ${path} ${status} ${JSON.stringify(body)}`);
    }
    spies.forEach((spy) => spy.mockRestore());
    expect(faults).toEqual([]);
    expect(refused).toBeGreaterThan(20);
  });

  it('attaches no unreadable object, in any list', async () => {
    const faults: string[] = [];
    for (const route of routes()) {
      const { method, info } = route;
      if (method !== 'POST' || !info?.attach) continue;
      const row = foreign[info.resource!.type];
      if (!row) continue;
      const path = await samples.pathOf(route);
      const { status } = await test.as.orgAdmin.post(path, { id: row.id });
      // Roles and their holders have rules of their own, which may refuse before the permission is checked.
      if (![400, 403].includes(status)) faults.push(`${path} ${row.id}: ${status}`);
      const list = await test.as.superuser.get(`${path}?id=${row.id}`);
      if (list.body.count !== 0) faults.push(`${path} holds ${row.id}`);
    }
    expect(faults).toEqual([]);
  }, 60_000);
});

describe('a launch', () => {
  const ASKS = ['inventory', 'credential', 'labels', 'instance_groups'];

  it.each(['job_template', 'workflow_job_template'])(
    'of a %s uses no unreadable object',
    async (type) => {
      const { as, make, home } = test;
      const own = await make.row(type, {
        ...{ name: `asks ${type}`, ask_inventory_on_launch: true, ask_labels_on_launch: true },
        ...(type === 'job_template'
          ? {
              ...Object.fromEntries(ASKS.map((name) => [`ask_${name}_on_launch`, true])),
              project: (await make.project({ organization: home.organization.id })).id,
              playbook: 'site.yml',
            }
          : { organization: home.organization.id }),
      });
      const inventory = (await make.inventory({ organization: home.organization.id })).id;
      const group = await make.row('instance_group', { name: `foreign ${type}` });
      const url = `${type}s/${own.id}/`;
      const given: Record<string, unknown> = {
        inventory: foreign.inventory!.id,
        labels: [foreign.label!.id],
        ...(type === 'job_template'
          ? {
              credentials: [foreign.credential!.id],
              instance_groups: [group.id],
            }
          : {}),
      };
      for (const [name, value] of Object.entries(given)) {
        const { status } = await as.orgAdmin.post(`${url}launch/`, { inventory, [name]: value });
        expect([name, status]).toEqual([name, 403]);
      }
      expect(
        (await as.superuser.get(`unified_jobs/?unified_job_template=${own.id}`)).body.count,
      ).toBe(0);
      await as.orgAdmin.post(`${url}launch/`, { inventory }).expect(201);
    },
  );
});

describe('an object without use', () => {
  /**
   * Credentials of another organization: one that a launch accepts, one that needs a password, one that is
   * never accepted.
   */
  let credentials: Row[];
  let own: { template: Row; inventory: Row; credential: Row };
  beforeAll(async () => {
    const { make, home } = test;
    const [organization, others] = [home.organization.id, home.otherOrganization.id];
    credentials = [
      await make.credential({ organization: others }),
      await make.credential({ organization: others, inputs: { password: 'ASK' } }),
      await make.credential({ organization: others, namespace: 'vault' }),
      await make.credential({ organization: others, namespace: 'registry' }),
    ];
    const asks = ['credential', 'inventory', 'job_slice_count'].map((name) => [
      `ask_${name}_on_launch`,
      true,
    ]);
    const project = (await make.project({ organization })).id;
    const inventory = await make.inventory({ organization });
    own = {
      template: await make.jobTemplate({
        ...{ project, inventory: inventory.id },
        ...Object.fromEntries(asks),
      }),
      inventory,
      credential: await make.credential({ organization }),
    };
  });

  const without = (body: unknown, id: number): string =>
    JSON.stringify(body).replaceAll(String(id), 'ID');

  it('is not described by the response to a launch', async () => {
    const path = `job_templates/${own.template.id}/launch/`;
    const pending = await test.make.inventory({ organization: test.home.otherOrganization.id });
    await test.database.execute(
      sql`UPDATE inventories SET pending_deletion = true WHERE id = ${pending.id}`,
    );
    const answers = [];
    for (const { id } of credentials) {
      for (const ids of [[id], [own.credential.id, id]]) {
        answers.push(await test.as.orgAdmin.post(path, { credentials: ids }));
      }
    }
    for (const { id: inventory } of [foreign.inventory!, pending]) {
      answers.push(await test.as.orgAdmin.post(path, { inventory, job_slice_count: 5 }));
    }
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it('looks in a bulk launch like a missing object', async () => {
    const answers = [];
    for (const id of [...credentials.map((one) => one.id), 2_000_000_000]) {
      const jobs = [
        { unified_job_template: own.template.id, credentials: [own.credential.id, id] },
      ];
      const organization = samples.home;
      const { body } = await test.as.orgAdmin
        .post('bulk/job_launch/', { name: 'probe', organization, jobs })
        .expect(400);
      answers.push(without(body, id));
      const launch = { name: 'probe', organization, credentials: [id] };
      const all = await test.as.orgAdmin
        .post('bulk/job_launch/', { ...launch, jobs: [{ unified_job_template: own.template.id }] })
        .expect(400);
      answers.push(without(all.body, id));
    }
    expect(new Set(answers).size).toBe(2);
    const inventories = [];
    for (const inventory of [foreign.inventory!.id, 2_000_000_000]) {
      const job = { unified_job_template: own.template.id, inventory, job_slice_count: 5 };
      const { body } = await test.as.orgAdmin
        .post('bulk/job_launch/', { name: 'probe', organization: samples.home, jobs: [job] })
        .expect(400);
      inventories.push(without(body, inventory));
    }
    expect(new Set(inventories).size).toBe(1);
  });

  it('is not revealed by changes of objects that refer to it', async () => {
    const { make, home, as } = test;
    const organization = home.organization.id;
    const workflow = await make.workflowTemplate({ organization });
    const node = await make.workflowNode(workflow, {
      unified_job_template: foreign.job_template!.id,
    });
    const project = await make.project({ organization: home.otherOrganization.id });
    const template = await make.jobTemplate({ project: project.id, inventory: own.inventory.id });
    const user = await make.user();
    await make.grant('job_template', template, 'admin_role', { user });
    await make.grant('workflow_job_template', workflow, 'admin_role', { user });
    const admin = await as.asUser(user);
    const probes: [string, object, object][] = [
      [
        `workflow_job_template_nodes/${node.id}/`,
        { extra_data: {}, limit: null },
        { extra_data: { anything: 1 }, limit: 'web' },
      ],
      [`job_templates/${template.id}/`, { playbook: 'other.yml' }, { scm_branch: 'dev' }],
      [`job_templates/${template.id}/`, { project: null }, { playbook: '../up.yml' }],
    ];
    for (const [path, ...bodies] of probes) {
      for (const body of bodies) await admin.patch(path, body).expect(403);
    }
  });
});

describe('bulk requests of own and unreadable ids', () => {
  const count = async (table: 'hosts' | 'unified_jobs'): Promise<number> =>
    (await test.database.row<{ total: number }>(
      table === 'hosts'
        ? sql`SELECT count(*)::int AS total FROM hosts`
        : sql`SELECT count(*)::int AS total FROM unified_jobs`,
    ))!.total;

  it('delete nothing, and report unreadable and missing ids alike', async () => {
    const own = await test.make.host(await samples.of('inventory'));
    const before = await count('hosts');
    const answers = [];
    for (const id of [foreign.host!.id, 2_000_000_000]) {
      const { body } = await test.as.orgAdmin
        .post('bulk/host_delete/', { hosts: [own.id, id] })
        .expect(400);
      answers.push(JSON.stringify(body).replaceAll(String(id), 'ID'));
    }
    expect(answers[0]).toBe(answers[1]);
    expect(await count('hosts')).toBe(before);
  });

  it('create nothing in an unreadable inventory, and do not show that it exists', async () => {
    const before = await count('hosts');
    for (const inventory of [foreign.inventory!.id, 2_000_000_000]) {
      await test.as.orgAdmin
        .post('bulk/host_create/', { inventory, hosts: [{ name: 'mixed' }] })
        .expect(400);
    }
    expect(await count('hosts')).toBe(before);
  });

  it('launch nothing', async () => {
    const own = (await samples.of('job_template')).id;
    const before = await count('unified_jobs');
    for (const unified_job_template of [foreign.job_template!.id, 2_000_000_000]) {
      await test.as.orgAdmin
        .post('bulk/job_launch/', {
          name: 'mixed',
          organization: samples.home,
          jobs: [{ unified_job_template: own }, { unified_job_template }],
        })
        .expect(400);
    }
    expect(await count('unified_jobs')).toBe(before);
  });
});

describe('a user without an organization', () => {
  it('cannot be added by an administrator with fewer permissions', async () => {
    const { as, make, home } = test;
    const confined = home.organization.id;
    const powerful = await make.user();
    await make.grant('project', foreign.project!, 'admin_role', { user: powerful });
    await make.grant('team', home.team, 'member_role', { user: powerful });
    const path = `organizations/${confined}/users/`;
    await as.orgAdmin.post(path, { id: powerful.id }).expect(403);
    await as.orgAdmin.delete(`users/${powerful.id}/`).expect(403);
    await make.revoke('project', foreign.project!, 'admin_role', { user: powerful });
    const { status } = await as.orgAdmin.post(path, { id: powerful.id });
    expect([204, 403]).toContain(status);
  });
});
