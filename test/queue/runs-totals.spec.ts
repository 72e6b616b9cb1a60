/**
 * Totals of runs stay exact however runs are written (docs/decisions/0110-kept-totals.md), and lists
 * show what counting would.
 */
import { RoleStore } from '../../src/common/access.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import type { PersonaName } from '../support/personas.js';
import { endJob, launchJob } from '../support/runs.js';
import { multiply } from '../support/multiply.js';
import { Samples } from '../support/samples.js';

const COPIES = 40;

let test: TestApp;
let job: Row;
let template: number;
beforeAll(async () => {
  test = await boot();
  const samples = new Samples(test);
  job = await samples.of('job');
  const roles = test.app.get(RoleStore, { strict: false });
  for (const type of ['job', 'project_update', 'inventory_update', 'ad_hoc_command']) {
    await multiply(test.database, roles, type, await samples.of(type), COPIES);
  }
  template = Number(job.unified_job_template_id);
  await write('at once');
  await vary(0);
});
afterAll(() => test.close());

/** Adds seven jobs of the template. */
const write = (name: string): Promise<number> =>
  test.database.execute(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id)
    SELECT 'job', ${name}::text, 'successful', ${template}::int, ${template}::int
    FROM generate_series(1, 7)`);

/** Changes the status of runs, and the organization of half of them. Those named "at once" stay successful. */
const vary = (shift: number): Promise<number> =>
  test.database.execute(sql`
    UPDATE unified_jobs SET status = CASE (id + ${shift}::int) % 3 WHEN 0 THEN 'failed' ELSE 'canceled' END,
      organization_id = CASE WHEN id % 2 = 0 THEN NULL ELSE organization_id END
    WHERE name <> 'at once'`);

/** Returns the groups whose kept total differs from the number of their rows. */
const differences = (): Promise<Row[]> =>
  test.database.rows(sql`
    SELECT * FROM (
      SELECT type, status, unified_job_template_id, job_template_id, organization_id, inventory_id,
        is_bulk_job, sum(total)::int AS total FROM run_totals GROUP BY 1, 2, 3, 4, 5, 6, 7) kept
    WHERE total <> (
      SELECT count(*) FROM unified_jobs t WHERE t.type = kept.type AND t.status = kept.status
        AND (t.unified_job_template_id, t.job_template_id, t.organization_id, t.inventory_id,
          t.is_bulk_job) IS NOT DISTINCT FROM (kept.unified_job_template_id, kept.job_template_id,
          kept.organization_id, kept.inventory_id, kept.is_bulk_job))`);

const sums = (): Promise<Row | undefined> =>
  test.database.row(sql`
    SELECT (SELECT sum(total)::int FROM run_totals) AS kept,
      (SELECT count(*)::int FROM unified_jobs) AS counted`);

async function expectExact(): Promise<void> {
  expect(await differences()).toEqual([]);
  const row = await sums();
  expect(row?.kept).toBe(row?.counted);
}

it('totals are updated by every write of runs', async () => {
  await expectExact();
  await vary(1);
  await expectExact();
  await test.database.execute(sql`DELETE FROM unified_jobs WHERE id % 5 = 0 AND id <> ${job.id}`);
  await expectExact();
});

it('totals are updated by simultaneous writers without blocking', async () => {
  await test.database.transaction(async () => {
    await write('first');
    // Outside of this transaction, which has not ended.
    await test.database.withClient(async (client) => {
      await client.query("SET lock_timeout = '2s'");
      await client.query(
        `INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id)
         VALUES ('job', 'beside', 'successful', $1, $1)`,
        [template],
      );
      await client.query('RESET lock_timeout');
    });
  });
  await Promise.all(Array.from({ length: 20 }, (_none, number) => write(`writer ${number}`)));
  await expectExact();
});

const LISTS: readonly (readonly [list: string, condition: string])[] = [
  ['jobs/', "t.type = 'job'"],
  ['jobs/?status=failed', "t.type = 'job' AND t.status = 'failed'"],
  [
    'jobs/?not__status__in=failed,canceled',
    "t.type = 'job' AND t.status NOT IN ('failed', 'canceled')",
  ],
  ['jobs/?organization__isnull=true', "t.type = 'job' AND t.organization_id IS NULL"],
  ['jobs/?job_template=TEMPLATE', "t.type = 'job' AND t.job_template_id = TEMPLATE"],
  ['job_templates/TEMPLATE/jobs/', "t.type = 'job' AND t.job_template_id = TEMPLATE"],
  ['jobs/?name__contains=once', "t.type = 'job' AND t.name LIKE '%once%'"],
  ['project_updates/', "t.type = 'project_update'"],
  ['ad_hoc_commands/?status=failed', "t.type = 'ad_hoc_command' AND t.status = 'failed'"],
  ['unified_jobs/?type=project_update', "t.type = 'project_update'"],
];

it.each(LISTS)('totals equal the rows of %s', async (list, condition) => {
  const put = (text: string): string => text.replaceAll('TEMPLATE', String(template));
  const row = await test.database.row<{ total: number }>({
    text: `SELECT count(*)::int AS total FROM unified_jobs t WHERE ${put(condition)}`,
  });
  const { body } = await test.as.superuser.get(put(list)).expect(200);
  expect(body.count).toBe(row?.total);
  expect(body.count).toBeGreaterThan(0);
});

const SEEN = [
  'jobs/',
  'unified_jobs/',
  'project_updates/',
  'inventory_updates/',
  'ad_hoc_commands/',
];
const PERSONAS: readonly PersonaName[] = ['superuser', 'orgAdmin', 'teamMember', 'outsider'];

it.each(SEEN)('totals for each caller equal the visible rows of %s', async (list) => {
  for (const name of PERSONAS) {
    const { body } = await test.as[name].get(list).expect(200);
    const seen: number[] = [];
    for (let next = `${list}?page_size=200`; next;) {
      const page = (await test.as[name].get(next).expect(200)).body;
      seen.push(...page.results.map(({ id }: Row) => id));
      next = page.next?.replace('/api/v2/', '') ?? '';
    }
    expect([name, body.count]).toEqual([name, new Set(seen).size]);
  }
});

it('totals stay exact when a template is deleted', async () => {
  const { id } = await test.make.jobTemplate({});
  await test.database.execute(sql`
    UPDATE unified_jobs SET unified_job_template_id = ${id}, job_template_id = ${id}
    WHERE type = 'job' AND id % 3 <> 0`);
  const launched = await launchJob(test, { id });
  await endJob(test, launched);
  await test.database.execute(sql`
    UPDATE unified_jobs SET status = 'canceled' WHERE status NOT IN ('successful', 'failed', 'canceled')`);
  await test.as.superuser.delete(`job_templates/${id}/`).expect(204);
  await expectExact();
  const { body } = await test.as.superuser.get('jobs/?job_template__isnull=true').expect(200);
  expect(body.count).toBeGreaterThan(COPIES / 2);
});
