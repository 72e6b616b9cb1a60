/** Numbers of `/api/v2/statistics/` and of its page, and the callers who get them. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
let template: Row;
/** The numbers of a week and of two, before other tests add jobs. */
let week: Record<string, unknown[]>;
let usual: Record<string, unknown>;

async function job(of: Row, status: string, elapsed: number, daysAgo = 0): Promise<Row> {
  return (await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, failed, unified_job_template_id, job_template_id,
      organization_id, elapsed, finished)
    VALUES ('job', ${of.name}, ${status}, ${status !== 'successful'}, ${of.id}, ${of.id},
      ${test.home.organization.id}, ${elapsed},
      CASE WHEN ${status} <> 'pending' THEN now() - make_interval(days => ${daysAgo}) END)
    RETURNING *`))!;
}

/** Tasks of a job, with their durations in seconds, and thousands of other events in between. */
async function tasks(of: Row, seconds: Readonly<Record<string, number>>): Promise<void> {
  let start = 0;
  const steps = [...Object.entries(seconds), ['', 0] as const];
  for (const [index, [task, length]] of steps.entries()) {
    const event = task === '' ? 'playbook_on_stats' : 'playbook_on_task_start';
    await test.database.execute(sql`
      INSERT INTO job_events (job_id, counter, event, task, event_data, created)
      VALUES (${of.id}, ${index * 3000 + 1}, ${event}, ${task}, '{}',
        '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs => ${start}))`);
    start += length;
  }
}

const summarize = (of: Row, host: string, failed: boolean): Promise<number> =>
  test.database.execute(sql`
    INSERT INTO job_host_summaries (job_id, host_name, failed) VALUES (${of.id}, ${host}, ${failed})`);

beforeAll(async () => {
  test = await boot();
  template = await test.make.jobTemplate({ name: 'Deploy' });
  const first = await job(template, 'successful', 10);
  const second = await job(template, 'failed', 30);
  await job(template, 'canceled', 20);
  await job(template, 'error', 5, 3);
  await job(template, 'successful', 5, 40);
  await job(template, 'pending', 0);
  await tasks(first, { Install: 40, Start: 2 });
  await tasks(second, { Install: 20 });
  await summarize(first, 'web-1', false);
  await summarize(first, 'web-2', true);
  await summarize(second, 'web-1', true);
  await summarize(second, 'web-2', true);
  await summarize(second, 'web-3', false);
  await summarize(second, 'web-4', true);
  week = (await test.as.superuser.get('statistics/?days=7').expect(200)).body;
  usual = (await test.as.superuser.get('statistics/').expect(200)).body;
});
afterAll(() => test.close());

it('statistics count results and durations by day, including days without runs', () => {
  expect(week.days).toBe(7);
  const outcomes = week.outcomes!;
  expect(outcomes).toHaveLength(7);
  expect(outcomes[6]).toMatchObject({
    ...{ successful: 1, failed: 1, error: 0, canceled: 1 },
    ...{ median_seconds: 20, longest_seconds: 30 },
  });
  expect(outcomes[3]).toMatchObject({ error: 1, median_seconds: 5 });
  expect(outcomes[5]).toMatchObject({ successful: 0, median_seconds: null });
});

it('statistics list the slowest tasks, the hosts with most failures, and waiting runs', () => {
  const body = usual;
  expect(body.slow_tasks).toEqual([
    {
      ...{ task: 'Install', job_template: template.id, name: 'Deploy', times: 2 },
      ...{ mean_seconds: 30, longest_seconds: 40 },
    },
    {
      ...{ task: 'Start', job_template: template.id, name: 'Deploy', times: 1 },
      ...{ mean_seconds: 2, longest_seconds: 2 },
    },
  ]);
  expect(body.failing_hosts).toMatchObject([
    { name: 'web-2', jobs: 2, failed: 2 },
    { name: 'web-1', jobs: 2, failed: 1 },
    { name: 'web-4', jobs: 1, failed: 1 },
  ]);
  expect(body.queue).toMatchObject([{ status: 'pending', runs: 1 }]);
  expect(body.capacity).toEqual({ capacity: 0, consumed: 0 });
});

it('statistics include readable runs only', async () => {
  const { body } = await test.as.nobody.get('statistics/').expect(200);
  const ended = body.outcomes.flatMap((day: Record<string, unknown>) =>
    ['successful', 'failed', 'error', 'canceled'].map((status) => day[status]),
  );
  expect(new Set(ended)).toEqual(new Set([0]));
  expect(body).toMatchObject({ slow_tasks: [], failing_hosts: [], queue: [], capacity: null });
  const other = await test.make.jobTemplate({ name: 'Theirs' });
  await test.make.grant('job_template', other, 'read_role', { user: test.as.users.nobody });
  await job(other, 'successful', 1);
  const { body: after } = await test.as.nobody.get('statistics/').expect(200);
  expect(after.outcomes.at(-1)).toMatchObject({ successful: 1, failed: 0 });
});

it.each(['0', '91', 'x', '1.5'])('statistics refuse %s days', async (days) => {
  const { body } = await test.as.superuser.get(`statistics/?days=${days}`).expect(400);
  expect(body.detail).toBe('days must be a whole number from 1 to 90.');
});

it('a page shows the same numbers', async () => {
  const { text } = await test.as.superuser
    .get('/statistics/')
    .set('Accept', 'text/html')
    .expect(200);
  expect(text).toMatch(/Jobs by day: [12] successful, 1 failed, 1 error, 1 canceled/);
  expect(text).toContain('<title>Statistics');
  const rows = text.matchAll(/>(web-\d)<\/th>[^]*?>(\d+ %)<[^]*?>(\d of \d)</g);
  // Hosts with few jobs come first if more of these failed.
  expect([...rows].map((row) => row.slice(1))).toEqual([
    ['web-2', '100 %', '2 of 2'],
    ['web-4', '100 %', '1 of 1'],
    ['web-1', '50 %', '1 of 2'],
  ]);
});
