/**
 * Notification templates are attached at every path of the contract
 * (docs/contract/notifications.md#attaching).
 */
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import type { ResourceDefinition, Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { Samples } from '../support/samples.js';

/** Events by parent, for every parent of the contract. */
const EVENTS: Record<string, readonly string[]> = {
  job_templates: ['started', 'success', 'error'],
  workflow_job_templates: ['started', 'success', 'error', 'approvals'],
  system_job_templates: ['started', 'success', 'error'],
  projects: ['started', 'success', 'error'],
  inventory_sources: ['started', 'success', 'error'],
  organizations: ['started', 'success', 'error', 'approvals'],
};

let test: TestApp;
let samples: Samples;
let lists: { parent: ResourceDefinition; row: Row; event: string; path: string }[];
let counter = 0;

beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
  const routes = test.app
    .get(RouteTable, { strict: false })
    .routes.filter(({ method, pattern }) => {
      return method === 'POST' && /\/:id\/notification_templates_\w+$/.test(pattern);
    });
  lists = [];
  for (const { pattern, info } of routes) {
    const parent = info!.parent!;
    const row = await samples.of(parent.type);
    const event = pattern.split('notification_templates_')[1]!;
    lists.push({ parent, row, event, path: `${pattern.slice(8).replace(':id', String(row.id))}/` });
  }
});
afterAll(() => test.close());

const template = (): Promise<Row> =>
  test.make.notificationTemplate({ organization: test.home.organization.id });

const bodyOf = (): object => ({
  name: `created here ${(counter += 1)}`,
  organization: test.home.organization.id,
  notification_type: 'chat_c',
  notification_configuration: { url: 'http://127.0.0.1:9/hook' },
});

async function listed(path: string): Promise<number[]> {
  const { body } = await test.as.superuser.get(`${path}?page_size=200`).expect(200);
  return (body.results as { id: number }[]).map(({ id }) => id);
}

it('every parent has the paths of the contract, and no others', async () => {
  const found: Record<string, string[]> = {};
  for (const { parent, event } of lists) (found[parent.path] ??= []).push(event);
  expect(Object.keys(found)).toEqual(
    expect.arrayContaining(['job_templates', 'organizations', 'projects']),
  );
  for (const [parent, events] of Object.entries(found)) {
    expect([parent, events.sort()]).toEqual([parent, [...EVENTS[parent]!].sort()]);
  }
  for (const { parent, row, event } of lists) {
    const { body } = await test.as.superuser.get(parent.url(row.id)).expect(200);
    expect(body.related[`notification_templates_${event}`]).toBe(
      `${parent.url(row.id)}notification_templates_${event}/`,
    );
    await test.as.superuser.get(`${parent.url(row.id)}notification_templates_any/`).expect(404);
  }
});

it('templates are attached and detached by id, repeatedly and separately for each event', async () => {
  for (const { parent, row, event, path } of lists) {
    const { id } = await template();
    await test.as.superuser.post(path, { id }).expect(204);
    await test.as.superuser.post(path, { id: String(id), disassociate: false }).expect(204);
    expect(await listed(path)).toContain(id);
    const others = lists.filter((list) => list.row === row && list.event !== event);
    for (const other of others) expect(await listed(other.path)).not.toContain(id);
    await test.as.superuser.post(path, { id, disassociate: true }).expect(204);
    await test.as.superuser.post(path, { id, disassociate: true }).expect(204);
    expect(await listed(path)).not.toContain(id);
    // The template still exists.
    await test.as.superuser.get(`notification_templates/${id}/`).expect(200);
    const { body } = await test.as.superuser
      .get(`activity_stream/?object2=notification_template&order_by=-id&page_size=2`)
      .expect(200);
    expect(body.results).toMatchObject(
      ['disassociate', 'associate'].map((operation) => ({
        operation,
        object1: parent.type,
        object2: 'notification_template',
        changes: {
          object1_pk: row.id,
          object2_pk: id,
          relationship: `notification_templates_${event}`,
        },
      })),
    );
  }
});

it('a request without an id creates and attaches a template', async () => {
  for (const { path } of lists) {
    const { body, headers } = await test.as.superuser.post(path, bodyOf()).expect(201);
    expect(headers.location).toBe(body.url);
    expect(body.organization).toBe(test.home.organization.id);
    expect(await listed(path)).toContain(body.id);
  }
});

it('a wrong body is explained', async () => {
  const refusals: [body: object, detail: string][] = [
    [{ id: 'x' }, '"id" field must be an integer.'],
    [{ id: 1.5 }, '"id" field must be an integer.'],
    [{ id: null }, '"id" field must be an integer.'],
    [{ disassociate: true }, '"id" is required to disassociate'],
    [{ id: 2147483000 }, 'NotificationTemplate matching query does not exist.'],
    [{ id: 99999999999 }, 'NotificationTemplate matching query does not exist.'],
    [{ id: 2147483000, disassociate: true }, 'NotificationTemplate matching query does not exist.'],
  ];
  for (const { path } of lists) {
    for (const [body, detail] of refusals) {
      const answer = await test.as.superuser.post(path, body).expect(400);
      expect(answer.body).toEqual({ detail });
    }
    await test.as.superuser.post(path, { name: 'no more' }).expect(400);
  }
});

describe('attaching and detaching', () => {
  /** Role on the parent that suffices together with the permission on the template. */
  const PARENT_ROLE: Record<string, string> = {
    job_templates: 'read_role',
    workflow_job_templates: 'read_role',
    projects: 'admin_role',
    organizations: 'auditor_role',
  };

  it('require admin on the template, and the required role on the parent', async () => {
    const { as, make, home } = test;
    // Every caller here administers notifications of another organization: crossing organizations is allowed.
    const elsewhere = await make.organization();
    const foreign = await make.notificationTemplate({ organization: elsewhere.id });
    for (const { parent, row, path } of lists) {
      const role = PARENT_ROLE[parent.path];
      if (!role) continue;
      const both = await make.user();
      const onlyTemplate = await make.user();
      const onlyParent = await make.user();
      for (const user of [both, onlyTemplate]) {
        await make.grant('organization', elsewhere, 'notification_admin_role', { user });
      }
      for (const user of [both, onlyParent]) await make.grant(parent.type, row, role, { user });
      const asBoth = await as.asUser(both);
      const change = { id: foreign.id, disassociate: true };
      await asBoth.post(path, { id: foreign.id }).expect(204);
      for (const user of [onlyTemplate, onlyParent]) {
        const caller = await as.asUser(user);
        await caller.post(path, { id: foreign.id }).expect(403);
        await caller.post(path, change).expect(403);
      }
      // The auditor may read everything but change nothing.
      await as.auditor.post(path, change).expect(403);
      await as.anonymous.post(path, change).expect(401);
      await asBoth.post(path, change).expect(204);
    }
    expect(home.organization.id).not.toBe(elsewhere.id);
  });

  it('on a project require more than use', async () => {
    const { as, make } = test;
    const { row, path } = lists.find(({ parent }) => parent.path === 'projects')!;
    const user = await make.user();
    const owned = await make.organization();
    const { id } = await make.notificationTemplate({ organization: owned.id });
    await make.grant('organization', owned, 'notification_admin_role', { user });
    for (const role of ['use_role', 'update_role']) {
      await make.grant('project', row, role, { user });
      await (await as.asUser(user)).post(path, { id }).expect(403);
    }
    await make.grant('project', row, 'admin_role', { user });
    await (await as.asUser(user)).post(path, { id }).expect(204);
  });
});

describe('the notification templates of an organization', () => {
  const path = () => `organizations/${test.home.organization.id}/notification_templates/`;

  it('are created there, with the organization filled in', async () => {
    const body = { ...bodyOf(), organization: undefined };
    const made = await test.as.orgAdmin.post(path(), body).expect(201);
    expect(made.body.organization).toBe(test.home.organization.id);
    expect(made.headers.location).toBe(made.body.url);
  });

  it('can be sent again by id; templates of other organizations are not moved', async () => {
    const { id } = await template();
    await test.as.orgAdmin.post(path(), { id }).expect(204);
    const foreign = await test.make.notificationTemplate({
      organization: test.home.otherOrganization.id,
    });
    const refused = await test.as.superuser.post(path(), { id: foreign.id }).expect(400);
    expect(refused.body).toEqual({
      detail:
        'The notification template belongs to another organization: change its organization instead.',
    });
    await test.as.orgAdmin.post(path(), { id: foreign.id }).expect(403);
    const kept = await test.as.superuser.get(`notification_templates/${foreign.id}/`).expect(200);
    expect(kept.body.organization).toBe(test.home.otherOrganization.id);
  });

  it('cannot lose their organization', async () => {
    const { id } = await template();
    for (const body of [{ id, disassociate: true }, { disassociate: true }]) {
      const { body: answer } = await test.as.superuser.post(path(), body).expect(400);
      expect(answer).toEqual({
        detail: 'This list owns its objects: delete the object instead of removing it.',
      });
    }
    expect(await listed(path())).toContain(id);
  });
});
