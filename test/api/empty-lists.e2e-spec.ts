/**
 * Collections that clients read although the product has none, or one, of these
 * (docs/contract/clients.md#starting).
 */
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const EMPTY = ['execution_environments', 'applications', 'system_job_templates'];
const READABLE = [...EMPTY, 'instance_groups'];

it('names them in the root', async () => {
  const { body } = await test.as.nobody.get('/api/v2/').expect(200);
  for (const name of READABLE) expect(body).toHaveProperty(name, `/api/v2/${name}/`);
});

it.each(READABLE)('describes %s as readable, whether object 1 exists or not', async (name) => {
  const list = await test.as.superuser.options(`${name}/`).expect(200);
  expect(list.headers.allow).toBe('GET, HEAD, OPTIONS');
  expect(Object.keys(list.body.actions)).toEqual(['GET']);
  for (const field of Object.values<{ type?: string }>(list.body.actions.GET)) {
    expect(typeof field.type).toBe('string');
  }
  const detail = await test.as.superuser.options(`${name}/1/`).expect(200);
  expect(detail.headers.allow).toBe('GET, HEAD, OPTIONS');
});

it.each(EMPTY)('lists no %s, with filters or without', async (name) => {
  const { as } = test;
  const none = { count: 0, next: null, previous: null, results: [] };
  for (const query of ['', '?name=x', '?order_by=-id&search=y', '?page=last', '?id__in=1,2']) {
    const { body } = await as.nobody.get(`${name}/${query}`).expect(200);
    expect(body).toEqual(none);
  }
  await as.nobody.get(`${name}/?count_disabled=1`).expect(200);
  await as.nobody.get(`${name}/?page=2`).expect(404);
  await as.nobody.get(`${name}/?nonsense=1`).expect(400);
  await as.superuser.get(`${name}/1/`).expect(404);
  await as.superuser.get(`${name}/some-name/`).expect(404);
  await as.superuser.post(`${name}/`, { name: 'x' }).expect(405);
  await as.anonymous.get(`${name}/`).expect(401);
});

describe('instance groups', () => {
  it('are one group with the capacity of the live workers, for everybody', async () => {
    const { as, database } = test;
    const before = await as.nobody.get('instance_groups/').expect(200);
    expect(before.body.count).toBe(1);
    expect(before.body.results[0]).toMatchObject({ name: 'default', capacity: 0, instances: 0 });
    await database.execute({
      text: `INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity, last_seen)
        VALUES ('a', 'a', 'a', 1, '1', 6, now()), ('lost', 'b', 'b', 1, '1', 9, now() - interval '1 day')`,
    });
    const { body } = await as.nobody.get('instance_groups/?name=default').expect(200);
    expect(body.results[0]).toMatchObject({
      type: 'instance_group',
      capacity: 6,
      consumed_capacity: 0,
      percent_capacity_remaining: 100,
      instances: 1,
    });
    await as.superuser.post('instance_groups/', { name: 'x' }).expect(405);
  });

  it('have roles that can be granted', async () => {
    const { as, home } = test;
    const { body } = await as.superuser.get('instance_groups/default/').expect(200);
    const roles = body.summary_fields.object_roles;
    expect(Object.keys(roles).sort()).toEqual(['admin_role', 'read_role', 'use_role']);
    const url = `roles/${roles.use_role.id}/teams/`;
    await as.orgAdmin.post(url, { id: home.team.id }).expect(403);
    await as.superuser.post(url, { id: home.team.id }).expect(204);
    const held = await as.teamMember.get('instance_groups/?role_level=read_role').expect(200);
    expect(held.body.count).toBe(1);
    const none = await as.nobody.get('instance_groups/?role_level=use_role').expect(200);
    expect(none.body.count).toBe(0);
  });
});
