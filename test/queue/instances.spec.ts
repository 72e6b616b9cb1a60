import { hostname } from 'node:os';

import { sql } from '../../src/database/sql.js';
import { VERSION } from '../../src/config/version.js';
import { boot, bootWorker, withSettingsOf, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { PERSONA_NAMES } from '../support/personas.js';

let test: TestApp;
let worker: Awaited<ReturnType<typeof bootWorker>>;
beforeAll(async () => {
  test = await boot({ settings: { JOB_CONCURRENCY: '3' } });
  worker = await bootWorker(test);
});
afterAll(async () => {
  await worker.close();
  await test.close();
});

const find = async (): Promise<Record<string, unknown> & { id: number }> =>
  (await test.as.superuser.get(`instances/?hostname=${hostname()}`).expect(200)).body.results[0];

it('instances are the machines of workers, with their capacity', async () => {
  expect(await find()).toMatchObject({
    type: 'instance',
    hostname: hostname(),
    version: VERSION,
    node_type: 'execution',
    node_state: 'ready',
    errors: '',
    capacity: expect.any(Number),
    capacity_adjustment: '1.00',
    container_engine: expect.any(String),
    ansible_version: expect.stringMatching(/^2\.\d+\.\d+$/),
    ansible_runner_version: expect.stringMatching(/^2\.\d+\.\d+$/),
    health_check_pending: false,
    health_check_started: null,
    last_health_check: expect.any(String),
    consumed_capacity: 0,
    percent_capacity_remaining: 100,
    jobs_running: 0,
    jobs_total: 0,
    cpu: expect.stringMatching(/^\d+\.0$/),
    memory: expect.any(Number),
  });
});

it('the capacity in forks is between the limits of processors and memory', async () => {
  const { as, database } = test;
  const { id } = await find();
  const url = `instances/${id}/`;
  await database.execute(sql`UPDATE instances SET cpu_capacity = 1000, mem_capacity = 10`);
  for (const [sent, shown, capacity] of [
    ['0.25', '0.25', 257],
    [0, '0.00', 10],
    ['1.5', '1.50', 1495],
    [1, '1.00', 1000],
  ] as const) {
    const { body } = await as.superuser.patch(url, { capacity_adjustment: sent }).expect(200);
    expect(body).toMatchObject({ capacity_adjustment: shown, capacity, cpu_capacity: 1000 });
  }
  for (const [sent, fault] of [
    ['-0.01', 'Ensure this value is greater than or equal to 0.'],
    ['0.333', 'Ensure that there are no more than 2 decimal places.'],
    ['1000', 'Ensure that there are no more than 5 digits in total.'],
    ['much', 'A valid number is required.'],
  ]) {
    const { body } = await as.superuser.patch(url, { capacity_adjustment: sent }).expect(400);
    expect(body).toEqual({ capacity_adjustment: [fault] });
  }
  await as.auditor.patch(url, { capacity_adjustment: '0.50' }).expect(403);
  const off = await as.superuser.patch(url, { enabled: false }).expect(200);
  expect(off.body).toMatchObject({ capacity: 0, node_state: 'ready' });
  await as.superuser.patch(url, { enabled: true }).expect(200);
});

it('an instance lists its runs and its groups', async () => {
  const { as, database, home } = test;
  const { id } = await find();
  await database.execute(sql`
    INSERT INTO unified_jobs (type, name, status, execution_node, organization_id) VALUES
      ('job', 'here', 'running', ${hostname()}, ${home.organization.id}),
      ('job', 'elsewhere', 'running', 'another.example.org', ${home.organization.id})`);
  const runs = await as.superuser.get(`instances/${id}/jobs/`).expect(200);
  expect(runs.body.results).toMatchObject([{ name: 'here' }]);
  const groups = await as.superuser.get(`instances/${id}/instance_groups/`).expect(200);
  expect(groups.body.results).toMatchObject([{ name: 'default' }]);
  const group = groups.body.results[0];
  const members = await as.superuser.get(group.related.instances).expect(200);
  expect(members.body.results).toMatchObject([
    { id, jobs_running: 1, jobs_total: 1, consumed_capacity: 1 },
  ]);
  await database.execute(sql`DELETE FROM unified_jobs`);
});

it.each(PERSONA_NAMES)('instances are visible to %s as the rules require', async (name) => {
  const { id } = await find();
  const mayRead = name === 'superuser' || name === 'auditor';
  const { body } = await test.as[name].get('instances/').expect(200);
  expect(body.count).toBe(mayRead ? 1 : 0);
  await test.as[name].get(`instances/${id}/`).expect(mayRead ? 200 : 403);
  await test.as[name].delete(`instances/${id}/`).expect(405);
});

it('instances stay without capacity after their workers stopped', async () => {
  await worker.close();
  expect(await find()).toMatchObject({
    hostname: hostname(),
    node_state: 'unavailable',
    errors: 'No worker of this machine has sent a heartbeat recently.',
    capacity: 0,
  });
  worker = await bootWorker(test);
});

it('ephemeral instances are removed with their last worker, or after an hour without a heartbeat', async () => {
  const { database } = test;
  await worker.close();
  await database.execute(sql`
    INSERT INTO instances (hostname, is_ephemeral, last_seen) VALUES
      ('lost-pod', true, now() - interval '61 minutes'),
      ('new-pod', true, now() - interval '59 minutes'),
      ('lost-machine', false, now() - interval '61 minutes')`);
  const names = async (): Promise<unknown[]> => {
    const rows = await database.rows<{ hostname: string }>(
      sql`SELECT hostname FROM instances ORDER BY hostname`,
    );
    return rows.map((row) => row.hostname);
  };
  const settings = { INSTANCE_NAME: 'pod', INSTANCE_EPHEMERAL: '1' };
  worker = await withSettingsOf(test, settings, () => bootWorker(test));
  const kept = ['lost-machine', 'new-pod', hostname()];
  await eventually(async () => expect(await names()).toEqual([...kept, 'pod'].sort()));
  await worker.close();
  expect(await names()).toEqual(kept.sort());
  worker = await bootWorker(test);
});
