import { hostname } from 'node:os';
import { sql } from '../../src/database/sql.js';
import { VERSION } from '../../src/config/version.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES } from '../support/personas.js';

let test: TestApp;
let worker: Awaited<ReturnType<typeof bootWorker>> | undefined;
beforeAll(async () => {
  test = await boot({ settings: { JOB_CONCURRENCY: '3' } });
  worker = await bootWorker(test);
});
afterAll(async () => {
  await worker?.close();
  await test.close();
});

const find = async (): Promise<Record<string, unknown> & { id: number }> =>
  (await test.as.superuser.get(`instances/?hostname=${hostname()}`).expect(200)).body.results[0];

it('are the machines that workers run on, with what they can take', async () => {
  expect(await find()).toMatchObject({
    type: 'instance',
    hostname: hostname(),
    version: VERSION,
    node_type: 'execution',
    node_state: 'ready',
    errors: '',
    capacity: 3,
    consumed_capacity: 0,
    percent_capacity_remaining: 100,
    jobs_running: 0,
    jobs_total: 0,
    cpu: expect.any(Number),
    memory: expect.any(Number),
  });
});

it('list the runs they were given, and the groups they belong to', async () => {
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
});

it.each(PERSONA_NAMES)('are shown to %s as the rules say', async (name) => {
  const { id } = await find();
  const mayRead = name === 'superuser' || name === 'auditor';
  const { body } = await test.as[name].get('instances/').expect(200);
  expect(body.count).toBe(mayRead ? 1 : 0);
  await test.as[name].get(`instances/${id}/`).expect(mayRead ? 200 : 403);
  await test.as[name].delete(`instances/${id}/`).expect(405);
});

it('stay when their workers are gone, without capacity', async () => {
  await worker!.close();
  worker = undefined;
  expect(await find()).toMatchObject({
    hostname: hostname(),
    node_state: 'unavailable',
    errors: 'No worker of this machine has been heard of lately.',
    capacity: 0,
  });
});
