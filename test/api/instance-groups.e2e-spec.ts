/** Groups of workers (docs/contract/resources.md#instance-groups). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

describe('the default group', () => {
  it('has the capacity of the live workers, visible to all users', async () => {
    const { as, database } = test;
    const before = await as.nobody.get('instance_groups/?name=default').expect(200);
    expect(before.body.results[0]).toMatchObject({ name: 'default', capacity: 0, instances: 0 });
    await database.execute({
      text: `INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity, last_seen)
        VALUES ('live', 'live', 'a', 1, '1', 2, now()),
          ('lost', 'lost', 'b', 1, '1', 9, now() - interval '1 day')`,
    });
    await database.execute(sql`
      INSERT INTO instances (hostname, cpu_capacity, mem_capacity)
      VALUES ('live', 4, 6), ('lost', 9, 9)`);
    const { body } = await as.nobody.get('instance_groups/?name=default').expect(200);
    expect(body.results[0]).toMatchObject({
      type: 'instance_group',
      capacity: 6,
      consumed_capacity: 0,
      percent_capacity_remaining: 100,
      instances: 1,
    });
    const { body: ping } = await as.anonymous.get('ping/').expect(200);
    expect(ping).toMatchObject({
      instances: [{ node: ping.active_node, capacity: 6 }],
      instance_groups: [{ name: 'default', capacity: 6, instances: [ping.active_node] }],
    });
    await database.execute(sql`DELETE FROM worker_nodes`);
    await database.execute(sql`DELETE FROM instances WHERE hostname IN ('live', 'lost')`);
  });

  it('has roles that can be granted', async () => {
    const { as, home } = test;
    const { body } = await as.superuser.get('instance_groups/default/').expect(200);
    expect(body.summary_fields.user_capabilities).toEqual({ edit: true, delete: false });
    const page = await as.superuser.with({ accept: 'text/html' }).get(body.url).expect(200);
    expect(page.text).toContain('_form=patch">Edit<');
    expect(page.text).not.toContain('_form=delete');
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

describe('instance groups', () => {
  const path = 'instance_groups/';

  it('are created, found, changed and deleted', async () => {
    const { superuser } = test.as;
    const made = await superuser
      .post(path, { name: 'West', policy_instance_percentage: 34, policy_instance_minimum: 12 })
      .expect(201);
    const { url } = made.body;
    expect(made.body).toMatchObject({
      ...{ type: 'instance_group', name: 'West', is_container_group: false, credential: null },
      ...{ policy_instance_percentage: 34, policy_instance_minimum: 12, policy_instance_list: [] },
      ...{ capacity: 0, instances: 0, jobs_total: 0, percent_capacity_remaining: 0 },
    });
    expect((await test.as.nobody.get(`${path}?name=West`).expect(200)).body.count).toBe(1);
    const changed = await superuser.patch(url, { policy_instance_minimum: 24 }).expect(200);
    expect(changed.body.policy_instance_minimum).toBe(24);
    const again = await superuser.post(path, { name: 'West' }).expect(400);
    expect(again.body).toEqual({ name: ['Instance group with this Name already exists.'] });
    await superuser.put(url, { name: 'Western' }).expect(200);
    expect((await superuser.get(`${url}jobs/`).expect(200)).body.count).toBe(0);
    await superuser.delete(url).expect(204);
    await superuser.get(url).expect(404);
  });

  it('that are container groups are refused; existing ones can be resent, changed and deleted', async () => {
    const { as, make, home, database } = test;
    const { superuser } = as;
    const namespace = 'kubernetes_bearer_token';
    const cluster = await make.credential({ organization: home.organization.id, namespace });
    const none = { is_container_group: false, credential: null, pod_spec_override: '' };
    await superuser.post(path, { name: 'Plain', ...none }).expect(201);
    const pods = { is_container_group: true, credential: cluster.id, pod_spec_override: 'a: 1' };
    for (const [field, value] of Object.entries(pods)) {
      const { body } = await superuser.post(path, { name: 'Other', [field]: value }).expect(400);
      expect(body).toEqual({ [field]: [expect.stringMatching(/^Container groups are not/)] });
    }
    const row = await database.row<Row>(sql`
      INSERT INTO instance_groups (name, is_container_group, pod_spec_override, credential_id)
      VALUES ('Pods', true, 'a: 1', ${cluster.id}) RETURNING id`);
    const url = `${path}${row?.id}/`;
    const { body: stored } = await superuser.get(url).expect(200);
    expect(stored).toMatchObject(pods);
    await superuser.put(url, { ...stored, max_forks: 5 }).expect(200);
    await superuser.patch(url, { pod_spec_override: 'a: 2' }).expect(400);
    await superuser.patch(url, none).expect(200);
    await superuser.delete(url).expect(204);
  });

  it('are created with a form without the fields of container groups', async () => {
    const pages = test.as.superuser.with({ accept: 'text/html' });
    const { text } = await pages.get(`${path}?_form=post`).expect(200);
    const offered = [...text.matchAll(/id="post-(\w+)"/g)].map(([, name]) => name);
    expect(offered).toEqual(expect.arrayContaining(['name', 'max_forks']));
    for (const name of ['is_container_group', 'credential', 'pod_spec_override']) {
      expect(offered).not.toContain(name);
    }
  });

  it('contain as many machines as their policy requires', async () => {
    const { superuser } = test.as;
    await test.database.execute(sql`DELETE FROM instances`);
    const [first] = await test.database.rows<Row>(sql`
      INSERT INTO instances (hostname) VALUES ('a'), ('b'), ('c'), ('d') RETURNING id`);
    const count = async (policy: object): Promise<unknown> => {
      const { body } = await superuser.post(path, { name: JSON.stringify(policy), ...policy });
      const shown = await superuser.get(`${body.url}instances/`).expect(200);
      return shown.body.count;
    };
    await test.database.execute(sql`
      INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity)
      SELECT hostname, hostname, 'a', 1, '1', 2 FROM instances`);
    expect(await count({})).toBe(0);
    expect(await count({ policy_instance_minimum: 1 })).toBe(1);
    expect(await count({ policy_instance_percentage: 50 })).toBe(2);
    expect(await count({ policy_instance_minimum: 4 })).toBe(4);
    await superuser.patch(`instances/${first?.id}/`, { managed_by_policy: false }).expect(200);
    const { body } = await superuser.get(`instances/${first?.id}/instance_groups/`).expect(200);
    expect(body.results.map((one: Row) => one.name)).toEqual(['default']);
    await test.database.execute(sql`DELETE FROM worker_nodes`);
  });

  it('list existing machines, each once', async () => {
    const { superuser } = test.as;
    await test.database.execute(sql`INSERT INTO instances (hostname) VALUES ('one'), ('two')`);
    const list = ['one', 'three', 'one'];
    const { body } = await superuser
      .post(path, { name: 'Listed', policy_instance_list: list })
      .expect(400);
    expect(body).toEqual({
      policy_instance_list: [
        'three is not a valid hostname of an existing instance.',
        'Duplicate entry one.',
      ],
    });
    await superuser.post(path, { name: 'Listed', policy_instance_list: 'one' }).expect(400);
    await superuser.post(path, { name: 'Listed', policy_instance_list: ['two'] }).expect(201);
  });

  it('contain the machines that superusers add', async () => {
    const { superuser, auditor } = test.as;
    const group = (await superuser.post(path, { name: 'East' }).expect(201)).body;
    const row = await test.database.row<Row>(
      sql`INSERT INTO instances (hostname) VALUES ('east-1') RETURNING *`,
    );
    const id = Number(row?.id);
    await auditor.post(`${group.url}instances/`, { id }).expect(403);
    await superuser.post(`${group.url}instances/`, { id }).expect(204);
    const there = await superuser.get(`${group.url}instances/`).expect(200);
    expect(there.body.results.map((one: Row) => one.hostname)).toEqual(['east-1']);
    expect((await superuser.get(group.url).expect(200)).body.instances).toBe(1);
    const groups = await superuser.get(`instances/${id}/instance_groups/`).expect(200);
    expect(groups.body.results.map((one: Row) => one.name)).toEqual(['East', 'default']);
    await superuser.post(`${group.url}instances/`, { id, disassociate: true }).expect(204);
    expect((await superuser.get(`${group.url}instances/`).expect(200)).body.count).toBe(0);
    const all = await superuser.post('instance_groups/default/instances/', { id }).expect(400);
    expect(all.body).toEqual({ detail: 'Every instance is in the default instance group.' });
  });

  it('are joined and left by an instance', async () => {
    const { superuser, auditor } = test.as;
    const group = (await superuser.post(path, { name: 'South' }).expect(201)).body;
    const row = await test.database.row<Row>(
      sql`INSERT INTO instances (hostname) VALUES ('south-1') RETURNING *`,
    );
    const url = `instances/${row?.id}/instance_groups/`;
    await auditor.post(url, { id: group.id }).expect(403);
    await superuser.post(url, { id: group.id }).expect(204);
    const joined = (await superuser.get(group.url).expect(200)).body;
    expect(joined).toMatchObject({ instances: 1, policy_instance_list: ['south-1'] });
    await superuser.post(url, { id: group.id, disassociate: true }).expect(204);
    const left = (await superuser.get(group.url).expect(200)).body;
    expect(left).toMatchObject({ instances: 0, policy_instance_list: [] });
    const { body } = await superuser.get('instance_groups/default/').expect(200);
    await superuser.post(url, { id: body.id }).expect(400);
    await superuser.post(url, { id: body.id, disassociate: true }).expect(400);
  });

  it('are created and deleted by superusers, and changed by their admins', async () => {
    const { superuser, orgAdmin, asUser } = test.as;
    await orgAdmin.post(path, { name: 'Mine' }).expect(403);
    const group = (await superuser.post(path, { name: 'North' }).expect(201)).body;
    const user = await test.make.user();
    await test.make.grant('instance_group', group, 'admin_role', { user });
    const admin = await asUser(user);
    await admin.patch(group.url, { max_forks: 5 }).expect(200);
    await admin.delete(group.url).expect(403);
    await orgAdmin.patch(group.url, { max_forks: 6 }).expect(403);
  });

  it('cannot be deleted while runs are placed in them', async () => {
    const { superuser } = test.as;
    const group = (await superuser.post(path, { name: 'Busy' }).expect(201)).body;
    const id = 900_001;
    await test.database.execute(sql`
      INSERT INTO unified_jobs (id, type, status, instance_group_id)
      VALUES (${id}, 'job', 'waiting', ${group.id})`);
    const { body } = await superuser.delete(group.url).expect(409);
    expect(body).toMatchObject({
      detail: expect.stringMatching(/running jobs: job 900001\.$/),
      active_jobs: [{ id, type: 'job' }],
    });
    await test.database.execute(sql`
      UPDATE unified_jobs SET status = 'successful', finished = now() WHERE id = ${id}`);
    await superuser.delete(group.url).expect(204);
  });

  it('must include the default group', async () => {
    const { superuser } = test.as;
    const renamed = await superuser.patch('instance_groups/default/', { name: 'x' }).expect(400);
    expect(renamed.body).toEqual({ name: ['default instance group name may not be changed.'] });
    await superuser.delete('instance_groups/default/').expect(403);
    await superuser.patch('instance_groups/default/', { max_forks: 3 }).expect(200);
    const policy = {
      policy_instance_percentage: 50,
      policy_instance_minimum: 1,
      policy_instance_list: ['one'],
    };
    const refusal = ['The default instance group has no policy: every instance is in it.'];
    const { body } = await superuser.patch('instance_groups/default/', policy).expect(400);
    expect(body).toEqual({
      policy_instance_percentage: refusal,
      policy_instance_minimum: refusal,
      policy_instance_list: refusal,
    });
    const none = { policy_instance_percentage: 0, policy_instance_list: [] };
    await superuser.patch('instance_groups/default/', none).expect(200);
  });

  it('are used in the order of their objects', async () => {
    const { superuser } = test.as;
    const template = await test.make.jobTemplate({});
    const inventory = await test.make.inventory({});
    const made: number[] = [];
    for (const name of ['Second', 'First']) {
      made.unshift((await superuser.post(path, { name }).expect(201)).body.id);
    }
    for (const url of [
      `job_templates/${template.id}/instance_groups/`,
      `inventories/${inventory.id}/instance_groups/`,
      `organizations/${test.home.organization.id}/instance_groups/`,
    ]) {
      for (const id of made) await superuser.post(url, { id }).expect(204);
      const { body } = await superuser.get(url).expect(200);
      expect(body.results.map((one: Row) => one.name)).toEqual(['First', 'Second']);
    }
  });
});

it('ping/ shows every group to users, and live instances to superusers and auditors', async () => {
  const { as, database } = test;
  await database.execute(sql`DELETE FROM instance_groups WHERE name <> 'default'`);
  await database.execute(sql`DELETE FROM instances`);
  await database.execute(sql`
    INSERT INTO instances (hostname, version, cpu_capacity, mem_capacity, enabled)
    VALUES ('p1', '1.0', 4, 6, true), ('p2', '1.1', 4, 6, false), ('gone', '1.0', 9, 9, true)`);
  await database.execute(sql`
    INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity)
    VALUES ('p1', 'p1', 'a', 1, '1', 2), ('p2', 'p2', 'b', 1, '1', 2)`);
  const path = 'instance_groups/';
  await as.superuser.post(path, { name: 'alps', policy_instance_list: ['p1', 'p2', 'gone'] });
  await as.superuser.post(path, { name: 'empty' });
  const ping = async (name: 'anonymous' | 'nobody' | 'auditor' | 'superuser') =>
    (await as[name].get('ping/').expect(200)).body;
  for (const name of ['auditor', 'superuser'] as const) {
    expect(await ping(name)).toMatchObject({
      instances: [
        { node: 'p1', node_type: 'execution', version: '1.0', capacity: 6 },
        { node: 'p2', node_type: 'execution', version: '1.1', capacity: 0 },
      ],
      instance_groups: [
        { name: 'alps', capacity: 6, instances: ['gone', 'p1', 'p2'] },
        { name: 'default', capacity: 6, instances: ['gone', 'p1', 'p2'] },
        { name: 'empty', capacity: 0, instances: [] },
      ],
    });
  }
  const { active_node: node, ...shown } = await ping('nobody');
  expect(shown).toMatchObject({
    instances: [{ node, capacity: 6 }],
    instance_groups: [
      { name: 'alps', capacity: 6, instances: [] },
      { name: 'default', capacity: 6, instances: [node] },
      { name: 'empty', capacity: 0, instances: [] },
    ],
  });
  expect(await ping('anonymous')).toMatchObject({
    instances: [{ node, capacity: 6 }],
    instance_groups: [{ name: 'default', capacity: 6, instances: [node] }],
  });
  await database.execute(sql`DELETE FROM worker_nodes`);
});

/** docs/contract/resources.md#health-checks */
describe('a health check', () => {
  const make = async (hostname: string): Promise<string> => {
    const row = await test.database.row<Row>(sql`
      INSERT INTO instances (hostname, version, cpu, memory, cpu_capacity, mem_capacity)
      VALUES (${hostname}, '1.2', 2, 4096, 8, 1) RETURNING id`);
    return `/api/v2/instances/${row?.id}/`;
  };

  it('is requested by superusers, and pending until a worker performs it', async () => {
    const { superuser, auditor } = test.as;
    const url = await make('checked');
    const { related } = (await superuser.get(url).expect(200)).body;
    expect(related.health_check).toBe(`${url}health_check/`);
    const before = await auditor.get(related.health_check).expect(200);
    expect(before.body).toEqual({
      ...{ hostname: 'checked', version: '1.2', cpu: '2.0', memory: 4096 },
      ...{ cpu_capacity: 8, mem_capacity: 1, capacity: 0, isolation: '', container_engine: '' },
      ...{ ansible_version: '', ansible_runner_version: '' },
      ...{ last_health_check: null, health_check_started: null, health_check_pending: false },
      errors: 'No worker of this machine has sent a heartbeat recently.',
    });
    const asked = await superuser.post(related.health_check).expect(200);
    expect(asked.body).toEqual({ msg: 'Health check is running for checked.' });
    const { body } = await superuser.get(url).expect(200);
    expect(body).toMatchObject({ health_check_pending: true });
    const again = await superuser.post(related.health_check).expect(200);
    expect(again.body).toEqual({ msg: 'Health check was already in progress for checked.' });
    const after = await superuser.get(`${url}health_check/`).expect(200);
    expect(after.body.health_check_started).toBe(body.health_check_started);
    const pending = await superuser.get('instances/?health_check_pending=true').expect(200);
    expect(pending.body.results).toMatchObject([{ hostname: 'checked' }]);
  });

  it('is neither requested nor seen by other users', async () => {
    const url = `${await make('unseen')}health_check/`;
    await test.as.auditor.post(url).expect(403);
    for (const one of ['orgAdmin', 'nobody'] as const) {
      await test.as[one].get(url).expect(403);
      await test.as[one].post(url).expect(403);
    }
    expect((await test.as.superuser.get(url)).body.health_check_started).toBeNull();
    await test.as.superuser.post('instances/99999/health_check/').expect(404);
  });
});
