/** Bodies, links and summaries never give the caller more data or more rights than the permissions allow. */
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import type { ResourceHooks } from '../../src/common/rest/hooks.js';
import { resource, resources, type Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { bodyOf } from '../support/sample-bodies.js';
import { Samples, sampleTypes } from '../support/samples.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

describe('mass assignment', () => {
  it('of server fields is ignored', async () => {
    const { as, home } = test;
    const { body } = await as.orgAdmin
      .post('teams/', {
        name: 'assigned',
        organization: home.organization.id,
        id: 424242,
        created: '2001-01-01T00:00:00Z',
        modified: '2001-01-01T00:00:00Z',
        created_by: as.users.superuser.id,
        created_by_id: as.users.superuser.id,
        type: 'user',
        url: '/x/',
        related: { x: 'y' },
        summary_fields: {},
      })
      .expect(201);
    expect(body.id).not.toBe(424242);
    expect(body.created).not.toMatch(/^2001/);
    expect(body.summary_fields.created_by.id).toBe(as.users.orgAdmin.id);
  });

  it('of internal columns is ignored', async () => {
    const { as } = test;
    const sent = { password_hash: 'x', session_generation: 99, first_name: 'Ok' };
    await as.orgMember.patch(`users/${as.users.orgMember.id}/`, sent).expect(200);
    const row = await test.database.row<Row>(sql`
      SELECT password_hash, session_generation FROM users WHERE id = ${as.users.orgMember.id}`);
    expect(row).toEqual({ password_hash: '', session_generation: 0 });
  });

  it('of the prototype changes nothing', async () => {
    const { as, home } = test;
    const json = `{"name": "proto", "organization": ${home.organization.id},
      "__proto__": {"is_superuser": true, "description": "polluted"}, "constructor": {"prototype": {"x": 1}}}`;
    const { body } = await as.orgAdmin.post('teams/', json).expect(201);
    expect(body.description).toBe('');
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('of an id in a sublist attaches the object, and requires permission for that', async () => {
    const { as, home } = test;
    const sent = { id: as.users.superuser.id, username: 'new', password: 'x' };
    await as.orgAdmin.post(`organizations/${home.organization.id}/users/`, sent).expect(403);
    expect((await as.superuser.get('users/?username=new')).body.count).toBe(0);
  });

  it('of a parent below another parent is ignored', async () => {
    const { as, home } = test;
    const { body } = await as.orgAdmin
      .post(`organizations/${home.organization.id}/teams/`, {
        name: 'nested',
        organization: home.otherOrganization.id,
      })
      .expect(201);
    expect(body.organization).toBe(home.organization.id);
  });
});

describe('references', () => {
  it('to unreadable objects are refused, and to missing ones are invalid', async () => {
    const { as, home, make } = test;
    const foreign = await make.inventory({ organization: home.otherOrganization.id });
    const project = await make.project({ organization: home.organization.id });
    const template = { name: 'x', project: project.id, playbook: 'site.yml' };
    await as.orgAdmin.post('job_templates/', { ...template, inventory: foreign.id }).expect(403);
    await as.orgAdmin.post('job_templates/', { ...template, inventory: 999999 }).expect(400);
    await as.orgAdmin.post('hosts/', { name: 'x', inventory: foreign.id }).expect(403);
  });

  it('to another type in a shared table are invalid', async () => {
    const { as, home, make } = test;
    const inventory = await make.inventory({ organization: home.organization.id });
    const template = await make.jobTemplate({ inventory: inventory.id });
    const { body } = await as.superuser
      .post('job_templates/', {
        name: 'x',
        project: template.id,
        inventory: inventory.id,
        playbook: 'site.yml',
      })
      .expect(400);
    expect(body.project).toEqual([expect.stringMatching(/object does not exist/)]);
    await as.superuser.get(`projects/${template.id}/`).expect(404);
    await as.superuser.delete(`projects/${template.id}/`).expect(404);
  });

  it('are checked again only when they change', async () => {
    const { as, home, make } = test;
    const inventory = await make.inventory({ organization: home.organization.id });
    const foreign = await make.inventory({ organization: home.otherOrganization.id });
    const template = await make.jobTemplate({ inventory: inventory.id });
    await make.grant('job_template', template, 'admin_role', { user: as.users.orgMember });
    const url = `job_templates/${template.id}/`;
    await as.orgMember.patch(url, { inventory: inventory.id, description: 'same' }).expect(200);
    await as.orgMember.patch(url, { inventory: foreign.id }).expect(403);
  });
});

describe('hooks of resources', () => {
  /** Counts the calls of every hook that prepares a write. */
  function spyOnHooks(): jest.SpyInstance[] {
    const hooks = resources().flatMap(({ hooks: type }) =>
      type ? [test.app.get<ResourceHooks>(type, { strict: false })] : [],
    );
    return [...new Set(hooks)].flatMap((one) => [
      ...(one.prepareCreate ? [jest.spyOn(one, 'prepareCreate')] : []),
      ...(one.prepareUpdate ? [jest.spyOn(one, 'prepareUpdate')] : []),
    ]);
  }

  it('do not run for callers without permission', async () => {
    const samples = new Samples(test);
    const routes = test.app
      .get(RouteTable, { strict: false })
      .routes.filter(({ info }) => /^(create|modify|replace)$/.test(info?.kind ?? ''));
    const requests = [];
    for (const route of routes) {
      requests.push({
        route,
        path: await samples.pathOf(route),
        body: await bodyOf(samples, route),
      });
    }
    const spies = spyOnHooks();
    const faults: string[] = [];
    let refused = 0;
    for (const { route, path, body } of requests) {
      for (const name of ['nobody', 'outsider'] as const) {
        spies.forEach((spy) => spy.mockClear());
        const verb = route.method === 'POST' ? 'post' : route.method === 'PUT' ? 'put' : 'patch';
        const { status } = await test.as[name][verb](path, body);
        const calls = spies.filter((spy) => spy.mock.calls.length > 0).length;
        if (status >= 400 && calls > 0) faults.push(`${name} ${route.method} ${path}: ${status}`);
        if (status === 403) refused += 1;
      }
    }
    spies.forEach((spy) => spy.mockRestore());
    expect(faults).toEqual([]);
    expect(refused).toBeGreaterThan(routes.length);
  });
});

describe('summaries and links', () => {
  /** Roles that let the holder read an object but nothing that it refers to. */
  const READABLE = [
    ...(['job_template', 'workflow_job_template', 'notification_template', 'team'] as const),
  ];

  it('name related objects, and show nothing else about them', async () => {
    const { as, make } = test;
    const samples = new Samples(test);
    for (const type of sampleTypes()) await samples.of(type);
    await samples.linkAll();
    const user = await make.user();
    const reader = await as.asUser(user);
    const roles = (type: string) => resource(type).roles.some(({ field }) => field === 'read_role');
    for (const type of READABLE.filter(roles)) {
      await make.grant(type, await samples.of(type), 'read_role', { user });
    }
    const faults: string[] = [];
    const hidden = new Set<string>();
    for (const definition of resources().filter(({ stored, variants }) => stored && !variants)) {
      const url = definition.url((await samples.of(definition.type)).id);
      const { status, body } = await reader.get(url);
      if (status !== 200) continue;
      for (const { name, target, internal, hidden: unseen } of definition.fields) {
        const { [name]: key = name } = definition.summaryKeys;
        const id = body[name];
        if (!target || internal || unseen || key === null || typeof id !== 'number') continue;
        const summary = body.summary_fields[key] ?? {};
        if (target().field('name') && (summary.id !== id || !summary.name)) {
          faults.push(`${url} does not name its ${name}: ${JSON.stringify(summary)}`);
        }
        if (body.related[name] === undefined) continue;
        if ((await reader.get(body.related[name])).status !== 403) continue;
        hidden.add(`${definition.type}.${name}`);
        const more = Object.keys(summary).filter((word) => !['id', 'name'].includes(word));
        if (more.length > 0) faults.push(`${url} tells ${more.join()} of its ${name}`);
      }
    }
    expect(faults).toEqual([]);
    expect([...hidden]).toEqual(
      expect.arrayContaining([
        ...['job_template.project', 'job_template.inventory', 'job_template.organization'],
        ...['job.project', 'job.inventory', 'team.organization', 'label.organization'],
      ]),
    );
  });

  it('name credentials and templates, and show nothing else about them', async () => {
    const { as, home, make } = test;
    const inventory = await make.inventory({ organization: home.organization.id });
    const template = await make.jobTemplate({ inventory: inventory.id });
    const credential = await make.credential({ organization: home.organization.id, name: 'Key' });
    const { id: credentialId } = credential;
    const url = `job_templates/${template.id}/`;
    await as.superuser.post(`${url}credentials/`, { id: credentialId }).expect(204);
    const workflow = await make.workflowTemplate({ organization: home.organization.id });
    const node = await make.workflowNode(workflow, { unified_job_template: template.id });
    const { body: launched } = await as.superuser.post(`${url}launch/`, {}).expect(201);
    const { body: flow } = await as.superuser
      .post(`workflow_job_templates/${workflow.id}/launch/`, {})
      .expect(201);
    const user = await make.user();
    await make.grant('job_template', template, 'read_role', { user });
    const reader = await as.asUser(user);
    for (const path of [url, `jobs/${launched.id}/`]) {
      const { body } = await reader.get(path).expect(200);
      expect(body.summary_fields.credentials).toEqual([{ id: credentialId, name: 'Key' }]);
    }
    await reader.get(`credentials/${credentialId}/`).expect(403);

    const other = await make.user();
    await make.grant('workflow_job_template', workflow, 'read_role', { user: other });
    const visitor = await as.asUser(other);
    const { body: seen } = await visitor.get(`workflow_job_template_nodes/${node.id}/`).expect(200);
    const named = { id: template.id, name: template.name };
    expect(seen.summary_fields.unified_job_template).toMatchObject(named);
    const { body: run } = await visitor.get(`workflow_jobs/${flow.id}/`).expect(200);
    expect(run.summary_fields.workflow_job_template).toMatchObject({ name: workflow.name });
    await visitor.get(url).expect(403);
  });

  it('of activity do not name unreadable objects', async () => {
    const { as, home, make } = test;
    const hidden = await make.project({
      organization: home.organization.id,
      name: 'canary granted',
    });
    const team = await make.team({ organization: home.organization.id });
    await make.grant('team', team, 'read_role', { user: as.users.nobody });
    await make.grant('project', hidden, 'read_role', { team });
    const { text } = await as.nobody.get(`teams/${team.id}/activity_stream/`).expect(200);
    expect(text).not.toContain('canary granted');
  });
});

describe('attaching', () => {
  it('requires read on the child and change on the parent', async () => {
    const { as, home, make } = test;
    const own = await make.organization();
    await make.grant('organization', own, 'admin_role', { user: as.users.orgMember });
    const foreign = await make.notificationTemplate({ organization: home.otherOrganization.id });
    const path = `organizations/${own.id}/notification_templates_started/`;
    await as.orgMember.post(path, { id: foreign.id }).expect(403);
    await as.outsider.post(path, { id: foreign.id }).expect(403);
  });

  it('never removes a child from another parent, and detaching never deletes it', async () => {
    const { as, home, make } = test;
    const team = await make.team({ organization: home.organization.id });
    const path = `organizations/${home.otherOrganization.id}/teams/`;
    await as.superuser.post(path, { id: team.id, disassociate: true }).expect(400);
    await as.superuser.post(path, { id: team.id }).expect(400);
    const { body } = await as.superuser.get(`teams/${team.id}/`).expect(200);
    expect(body.organization).toBe(home.organization.id);
  });
});

it('a deleted user, a removed member and a revoked role lose access immediately', async () => {
  const { as, home, make } = test;
  const user = await make.user();
  const client = await as.asUser(user);
  const project = await make.project({ organization: home.organization.id });
  const url = `projects/${project.id}/`;
  await make.grant('project', project, 'admin_role', { user });
  await client.get(url).expect(200);
  await make.revoke('project', project, 'admin_role', { user });
  await client.get(url).expect(403);
  await make.grant('team', home.team, 'member_role', { user });
  await make.grant('project', project, 'read_role', { team: home.team });
  await client.get(url).expect(200);
  await as.superuser
    .post(`teams/${home.team.id}/users/`, { id: user.id, disassociate: true })
    .expect(204);
  await client.get(url).expect(403);
});

it('the database enforces row permissions, also for simultaneous writes', async () => {
  const { as, home } = test;
  const body = { name: 'raced', organization: home.organization.id };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => as.superuser.post('teams/', body)),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 400)]);
});
