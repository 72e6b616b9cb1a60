/** `/api/v2/dashboard/` and its graph count the objects that the caller may read. */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const get = async (path: string, as = test.as.superuser) => (await as.get(path).expect(200)).body;

/** A run that ended some hours ago. */
const run = (type: string, status: string, hours: number, launchType = 'manual'): Promise<number> =>
  test.database.execute(sql`
    INSERT INTO unified_jobs (type, name, status, launch_type, organization_id, finished)
    VALUES (${type}, 'run', ${status}, ${launchType}, ${test.home.organization.id},
      now() - make_interval(hours => ${hours}))`);

it('the dashboard counts objects and failures, with links to the lists', async () => {
  const before = await get('dashboard/');
  const inventory = await test.make.inventory();
  const good = await test.make.host(inventory);
  const bad = await test.make.host(inventory);
  const project = await test.make.project({ scm_type: 'git', scm_url: 'https://git.test/a.git' });
  const source = await test.make.row('inventory_source', {
    name: 'Cloud',
    inventory: inventory.id,
    source: 'ec2',
  });
  await test.database.execute(sql`
    UPDATE unified_job_templates SET last_job_failed = TRUE
    WHERE id IN (${project.id}, ${source.id})`);
  await test.database.execute(sql`
    WITH job AS (
      INSERT INTO unified_jobs (type, name, status) VALUES ('job', 'run', 'failed') RETURNING id
    ), summary AS (
      INSERT INTO job_host_summaries (job_id, host_id, host_name, failed)
      SELECT job.id, host.id, host.name, host.id = ${bad.id}
      FROM job, hosts host WHERE host.id IN (${good.id}, ${bad.id}) RETURNING id, host_id
    )
    UPDATE hosts SET last_job_host_summary_id = summary.id FROM summary
    WHERE hosts.id = summary.host_id`);

  const after = await get('dashboard/');

  expect(after.related.jobs_graph).toBe('/api/v2/dashboard/graphs/jobs/');
  expect(after.hosts).toMatchObject({
    url: '/api/v2/hosts/',
    total: before.hosts.total + 2,
    failed: before.hosts.failed + 1,
  });
  expect(after.inventories).toMatchObject({
    total: before.inventories.total + 1,
    job_failed: before.inventories.job_failed + 1,
    total_with_inventory_source: before.inventories.total_with_inventory_source + 1,
    inventory_failed: before.inventories.inventory_failed + 1,
  });
  expect(after.inventory_sources.ec2).toMatchObject({
    label: 'Amazon EC2',
    total: before.inventory_sources.ec2.total + 1,
    failed: before.inventory_sources.ec2.failed + 1,
  });
  expect(after.projects.failed).toBe(before.projects.failed + 1);
  expect(after.scm_types.git.failed).toBe(before.scm_types.git.failed + 1);
  for (const { failures_url, failed } of [after.hosts, after.projects, after.scm_types.git]) {
    expect((await get(failures_url)).count).toBe(failed);
  }
});

it('the counts match the lists of each caller', async () => {
  for (const as of [test.as.superuser, test.as.orgAdmin, test.as.teamMember, test.as.nobody]) {
    const counts: Record<string, { url?: string; total: number }> = await get('dashboard/', as);
    for (const { url, total } of Object.values(counts)) {
      if (url === undefined) continue;
      expect({ url, total }).toEqual({ url, total: (await get(url, as)).count });
    }
  }
});

it('the counts need at most three statements', async () => {
  const count = await countQueries(test.database, () => get('dashboard/'));
  expect(count).toBeLessThanOrEqual(3);
});

it('the graph shows runs by result, without updates that jobs started', async () => {
  const last = async (query: string) => {
    const { jobs } = await get(`dashboard/graphs/jobs/?${query}`);
    const sum = (points: number[][]): number => points.reduce((all, [, runs]) => all + runs!, 0);
    return Object.fromEntries(Object.entries<number[][]>(jobs).map(([k, v]) => [k, sum(v)]));
  };
  const before = await last('period=week');
  const updates = await last('period=week&job_type=scm_update');
  await run('job', 'successful', 1);
  await run('job', 'failed', 30);
  await run('job', 'canceled', 24 * 20);
  await run('project_update', 'error', 1);
  await run('project_update', 'successful', 1, 'sync');

  expect(await last('period=week')).toEqual({
    ...before,
    successful: before.successful! + 1,
    failed: before.failed! + 1,
    error: before.error! + 1,
  });
  expect(await last('period=week&job_type=scm_update')).toEqual({
    ...updates,
    error: updates.error! + 1,
  });
});

it('the graph omits runs that the caller may not read', async () => {
  await run('job', 'successful', 1);
  const { jobs } = await get('dashboard/graphs/jobs/', test.as.nobody);
  expect(jobs.successful.filter(([, runs]: [number, number]) => runs > 0)).toEqual([]);
});

it.each([
  ['week', 8, 86_400],
  ['two_weeks', 15, 86_400],
  ['day', 25, 3600],
])('the graph has a point for each step of a %s', async (period, points, seconds) => {
  const { jobs } = await get(`dashboard/graphs/jobs/?period=${period}`);
  const starts = jobs.successful.map(([start]: [number]) => start);
  expect(starts).toHaveLength(points);
  expect(starts[0] % seconds).toBe(0);
  expect(starts.at(-1) - starts[0]).toBe((points - 1) * seconds);
});

it('the graph refuses unknown periods and types of jobs', async () => {
  const refused = await test.as.superuser.get('dashboard/graphs/jobs/?period=year').expect(400);
  expect(refused.body.detail).toBe('period must be one of month, two_weeks, week, day.');
  await test.as.superuser.get('dashboard/graphs/jobs/?job_type=constructor').expect(400);
});

it('mesh_visualizer/ shows the instances as nodes, to superusers and auditors', async () => {
  const { as, database } = test;
  const added = await database.rows<{ id: number }>(sql`
    INSERT INTO instances (hostname, enabled) VALUES ('mesh-1', true), ('mesh-2', false)
    RETURNING id, hostname, enabled`);
  const nodes = added.map((one) => ({
    ...one,
    node_type: 'execution',
    node_state: 'unavailable',
  }));
  for (const client of [as.superuser, as.auditor]) {
    const { body } = await client.get('mesh_visualizer/').expect(200);
    expect(body).toEqual({ nodes: expect.arrayContaining(nodes), links: [] });
    await client.options('mesh_visualizer/').expect(200);
  }
  await as.orgAdmin.get('mesh_visualizer/').expect(403);
});
