/** Hosts that jobs touched, and their number by month (docs/contract/resources.md#host-metrics). */
import { sql } from '../../src/database/sql.js';
import { HostMetricsRepository } from '../../src/host-metrics/host-metrics.repository.js';
import { MonthlyHostMetricsRepository } from '../../src/host-metrics/monthly-host-metrics.repository.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let metrics: HostMetricsRepository;
beforeAll(async () => {
  test = await boot();
  metrics = test.app.get(HostMetricsRepository);
});
afterAll(() => test.close());
beforeEach(() =>
  test.database.execute(sql`TRUNCATE host_metrics, host_metric_summary_monthly RESTART IDENTITY`),
);

async function metricOf(hostname: string): Promise<Record<string, unknown>> {
  const { body } = await test.as.auditor.get(`host_metrics/?hostname=${hostname}`).expect(200);
  expect(body.count).toBe(1);
  return body.results[0] as Record<string, unknown>;
}

it('host metrics count each job once, in any letter case of the name', async () => {
  await metrics.countJob(['Web-1', 'web-1', 'db']);
  await test.database.execute(sql`
    UPDATE host_metrics SET first_automation = '2026-01-01', last_automation = '2026-01-01'`);
  await metrics.countJob(['WEB-1']);
  await metrics.countJob([]);
  const web = await metricOf('web-1');
  expect(web).toMatchObject({
    ...{
      type: 'host_metric',
      url: `/api/v2/host_metrics/${String(web.id)}/`,
      automated_counter: 2,
    },
    ...{ deleted: false, deleted_counter: 0, last_deleted: null, used_in_inventories: null },
  });
  expect(Date.parse(String(web.last_automation))).toBeGreaterThan(
    Date.parse(String(web.first_automation)),
  );
  expect(await metricOf('db')).toMatchObject({ automated_counter: 1 });
  const { body } = await test.as.superuser.get('host_metrics/?search=DB').expect(200);
  expect(body.results).toHaveLength(1);
});

it('host metrics are soft-deleted once, and restored by the next job', async () => {
  await metrics.countJob(['web-1']);
  const { id } = await metricOf('web-1');
  const url = `host_metrics/${String(id)}/`;
  await test.as.superuser.delete(url).expect(204);
  await test.as.superuser.delete(url).expect(204);
  const gone = (await test.as.auditor.get(url).expect(200)).body;
  expect(gone).toMatchObject({ deleted: true, deleted_counter: 1 });
  expect(Date.parse(gone.last_deleted)).not.toBeNaN();
  await metrics.countJob(['web-1']);
  expect(await metricOf('web-1')).toMatchObject({
    ...{ id, deleted: false, deleted_counter: 1, automated_counter: 2 },
    last_deleted: gone.last_deleted,
  });
});

it('host metrics are managed by superusers and read by auditors', async () => {
  await metrics.countJob(['web-1']);
  const { id } = await metricOf('web-1');
  const { as } = test;
  for (const path of ['host_metrics/', `host_metrics/${String(id)}/`]) {
    for (const caller of [as.superuser, as.auditor]) await caller.get(path).expect(200);
    for (const caller of [as.orgAdmin, as.nobody]) await caller.get(path).expect(403);
    await as.anonymous.get(path).expect(401);
  }
  await as.orgAdmin.get('host_metric_summary_monthly/').expect(403);
  await as.auditor.delete(`host_metrics/${String(id)}/`).expect(403);
  await as.superuser.post('host_metrics/', { hostname: 'x' }).expect(405);
  await as.superuser.patch(`host_metrics/${String(id)}/`, { deleted: true }).expect(405);
});

it('the cleanup deletes metrics of inactive hosts, and removes them much later', async () => {
  await metrics.countJob(['quiet', 'busy', 'gone', 'late']);
  await test.database.execute(sql`
    UPDATE host_metrics SET last_automation = now() - interval '13 months' WHERE hostname = 'quiet'`);
  await test.database.execute(sql`
    UPDATE host_metrics SET deleted = true, last_deleted = now() - make_interval(months =>
      CASE hostname WHEN 'gone' THEN 37 ELSE 35 END) WHERE hostname IN ('gone', 'late')`);
  expect(await metrics.markInactive(12, 10)).toBe(1);
  expect(await metrics.removeDeleted(36, 10)).toBe(1);
  const { body } = await test.as.superuser.get('host_metrics/').expect(200);
  expect(
    body.results.map(({ hostname, deleted }: Record<string, unknown>) => [hostname, deleted]),
  ).toEqual([
    ['busy', false],
    ['late', true],
    ['quiet', true],
  ]);
});

it('monthly counts are computed again for the last month', async () => {
  const monthly = test.app.get(MonthlyHostMetricsRepository, { strict: false });
  expect(await monthly.recount()).toBe(0);
  await metrics.countJob(['old', 'lost', 'new']);
  await test.database.execute(sql`
    UPDATE host_metrics SET first_automation = now() - interval '2 months'
    WHERE hostname IN ('old', 'lost')`);
  await test.database.execute(sql`
    UPDATE host_metrics SET deleted = true, last_deleted = now() - interval '1 month'
    WHERE hostname = 'lost'`);
  expect(await monthly.recount()).toBe(3);
  const shown = async (): Promise<unknown[]> => {
    const { body } = await test.as.auditor.get('host_metric_summary_monthly/').expect(200);
    return (body.results as Record<string, unknown>[]).map(
      ({ license_consumed: there, hosts_added: added, hosts_deleted: deleted }) => [
        ...[there, added, deleted],
      ],
    );
  };
  expect(await shown()).toEqual([
    [2, 2, 0],
    [1, 0, 1],
    [2, 1, 0],
  ]);
  await test.database.execute(sql`DELETE FROM host_metrics WHERE hostname = 'lost'`);
  await metrics.countJob(['newest']);
  expect(await monthly.recount()).toBe(1);
  expect(await shown()).toEqual([
    [2, 2, 0],
    [1, 0, 1],
    [3, 2, 0],
  ]);
  const { body } = await test.as.superuser.get('host_metric_summary_monthly/').expect(200);
  expect(body.results[0]).toMatchObject({ license_capacity: 0, indirectly_managed_hosts: 0 });
  expect(body.results[0].date).toMatch(/^\d{4}-\d\d-01$/);
});
