/** Removal of old data by system jobs (docs/contract/system-jobs.md). */
import type { INestApplicationContext } from '@nestjs/common';

import { cleanup } from '../../src/cli/cleanup.js';
import { sql, type Sql } from '../../src/database/sql.js';
import { Scheduler } from '../../src/execution/scheduler/scheduler.js';
import { Cleanups, type Removal } from '../../src/system-jobs/cleanups.js';
import { boot, bootWorker, withSettingsOf, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

let test: TestApp;
let worker: INestApplicationContext;
beforeAll(async () => {
  test = await boot();
  worker = await bootWorker(test);
});
afterAll(async () => {
  await worker.close();
  await test.close();
});
beforeEach(() => test.database.execute(sql`DELETE FROM unified_jobs`));
/** Releases what `holdFirstBatch` holds. */
let letGo = (): void => undefined;
afterEach(() => {
  letGo();
  jest.restoreAllMocks();
});

interface SystemJob {
  id: number;
  url: string;
  status: string;
}

async function launch(kind: string, extra_vars: object): Promise<SystemJob> {
  const { superuser } = test.as;
  const { body } = await superuser.get(`system_job_templates/?job_type=${kind}`).expect(200);
  const { url } = body.results[0] as { url: string };
  return (await superuser.post(`${url}launch/`, { extra_vars }).expect(201)).body as SystemJob;
}

async function ended({ url }: SystemJob): Promise<SystemJob> {
  return eventually(async () => {
    const { body } = await test.as.superuser.get(url).expect(200);
    expect(body.finished).not.toBeNull();
    return body as SystemJob;
  });
}

/** The output of a run that ended well. */
async function outputOf(kind: string, extra_vars: object): Promise<string[]> {
  const { url, status } = await ended(await launch(kind, extra_vars));
  expect(status).toBe('successful');
  const { text } = await test.as.superuser.get(`${url}stdout/?format=txt`).expect(200);
  return text.trim().split('\n');
}

/** Adds runs that ended some days ago, each with events. @returns their ids */
async function runs(
  count: number,
  { days = 100, events = 2, ...columns }: Record<string, unknown> = {},
): Promise<number[]> {
  const given = { type: 'job', status: 'successful', ...columns };
  const rows = await test.database.rows<{ id: number }>({
    text: `INSERT INTO unified_jobs (name, created, finished, ${Object.keys(given).join(', ')})
      SELECT 'run', at - interval '1 minute', CASE WHEN $1 IN ('successful', 'failed') THEN at END,
        ${Object.keys(given)
          .map((_, index) => `$${index + 4}`)
          .join(', ')}
      FROM (SELECT now() - make_interval(days => $2::int) AS at FROM generate_series(1, $3::int)) n
      RETURNING id`,
    values: [given.status, days, count, ...Object.values(given)],
  });
  const ids = rows.map(({ id }) => id);
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, uuid)
    SELECT id, n, 'verbose', gen_random_uuid()::text
    FROM unnest(${ids}::bigint[]) run(id) CROSS JOIN generate_series(1, ${events}::int) n`);
  return ids;
}

const idsOf = async (query: Sql): Promise<number[]> =>
  (await test.database.rows<{ id: number }>(query)).map(({ id }) => id);

/** Runs other than system jobs. */
const left = (): Promise<number[]> =>
  idsOf(sql`SELECT id FROM unified_jobs WHERE type <> 'system_job' ORDER BY id`);

/** Requires kept totals that are those of the rows. */
async function expectTotals(): Promise<void> {
  const row = await test.database.row(sql`
    SELECT (SELECT sum(total)::int FROM run_totals) = (SELECT count(*) FROM unified_jobs) AS runs,
      (SELECT sum(event_total)::int FROM run_totals) = (SELECT count(*) FROM job_events) AS events,
      NOT EXISTS (SELECT FROM unified_jobs run WHERE event_total <>
        (SELECT count(*) FROM job_events WHERE job_id = run.id)) AS each`);
  expect(row).toEqual({ runs: true, events: true, each: true });
}

it('a cleanup removes old runs with their events, and reports the number', async () => {
  await runs(620);
  const kept = await runs(30, { days: 10 });
  const output = await outputOf('cleanup_jobs', { days: 30 });
  expect(output.filter((line) => line.endsWith(' jobs'))).toEqual([
    'Deleted 500 of 620 jobs',
    'Deleted 620 of 620 jobs',
  ]);
  expect(await left()).toEqual(kept);
  await expectTotals();
});

it('a cleanup keeps active runs, runs of active workflows and unreported runs', async () => {
  const active = [
    ...(await runs(1, { status: 'running', lease_until: '2100-01-01' })),
    ...(await runs(1, { status: 'new' })),
  ];
  const [workflow] = await runs(1, { type: 'workflow_job', status: 'running' });
  const [over] = await runs(1, { type: 'workflow_job' });
  const [node, nodeOfOver, notified, unnotified, retried, posted, unposted] = await runs(7);
  await test.database.execute(sql`
    INSERT INTO workflow_job_nodes (workflow_job_id, job_id, identifier)
    VALUES (${workflow}, ${node}, 'a'), (${over}, ${nodeOfOver}, 'a')`);
  const approval = await runs(1, { type: 'workflow_approval', workflow_job_id: over });
  const template = await test.make.notificationTemplate();
  await test.database.execute(sql`
    INSERT INTO notifications
      (notification_template_id, unified_job_id, notification_type, status, event, next_attempt_at)
    VALUES (${template.id}, ${notified}, 'webhook', 'successful', 'success', NULL),
      (${template.id}, ${unnotified}, 'webhook', 'pending', 'success', NULL),
      (${template.id}, ${retried}, 'webhook', 'failed', 'success', '2100-01-01')`);
  await test.database.execute(sql`
    INSERT INTO webhook_status_posts (job_id, status, state, url, outcome)
    VALUES (${posted}, 'failed', 'failure', '', 'sent'),
      (${unposted}, 'failed', 'failure', '', 'pending')`);
  const [dry] = await outputOf('cleanup_jobs', { days: 30, dry_run: true }).then((lines) =>
    lines.filter((line) => line.endsWith(' jobs')),
  );
  expect(dry).toBe('Would delete 4 jobs');
  const output = await outputOf('cleanup_jobs', { days: 30 });
  expect(output).toContain('Deleted 4 of 4 jobs');
  expect(await left()).toEqual([...active, workflow, node, unnotified, retried, unposted]);
  expect(await left()).not.toContain(approval[0]);
  await expectTotals();
});

it('a cleanup applies the retention of templates and organizations', async () => {
  const { superuser } = test.as;
  const organization = (await test.make.organization()).id;
  const set = (type: string, id: number, body: object) =>
    superuser.patch(`${type}/${id}/`, body).expect(200);
  const templateOf = async (body: object): Promise<number> => {
    const { id } = await test.make.workflowTemplate({ organization });
    await set('workflow_job_templates', id, body);
    return id;
  };
  await set('organizations', organization, { retention_days: 60, retention_runs: 4 });
  const inherits = await templateOf({});
  const keepsLong = await templateOf({ retention_days: 200, retention_runs: 100 });
  const keepsFew = await templateOf({ retention_days: 20, retention_runs: 2 });
  const of = (unified_job_template_id: number | null, days: number, count = 1) =>
    runs(count, { days, unified_job_template_id, organization_id: organization });
  await of(inherits, 70);
  await of(inherits, 65);
  await of(inherits, 10, 2);
  const kept = [...(await of(inherits, 5, 4)), ...(await of(keepsLong, 150))];
  await of(keepsFew, 30);
  await of(keepsFew, 10);
  kept.push(...(await of(keepsFew, 5, 2)));
  await of(null, 65);
  kept.push(...(await of(null, 55)), ...(await runs(1, { days: 65 })));
  const lines = await outputOf('cleanup_jobs', { days: 90, dry_run: true });
  expect(lines).toEqual(['Would delete 7 jobs']);
  expect(await outputOf('cleanup_jobs', { days: 90 })).toEqual(['Deleted 7 of 7 jobs']);
  expect(await left()).toEqual(kept);
});

it('a cleanup drops event partitions without remaining runs', async () => {
  const lowerEnds = (): Promise<number[]> =>
    idsOf(sql`SELECT lower AS id FROM job_event_ranges() ORDER BY lower`);
  /** Adds runs to a new partition. */
  const inNewRange = async (days: number): Promise<number> => {
    // While the worker adds a partition, the function does nothing.
    const lower = await eventually(async () => {
      await test.database.execute(sql`SELECT extend_job_events(1)`);
      const newest = (await lowerEnds()).at(-1)!;
      expect(await idsOf(sql`SELECT id FROM unified_jobs WHERE id >= ${newest}`)).toEqual([]);
      return newest;
    });
    await test.database.execute(sql`
      SELECT setval(pg_get_serial_sequence('unified_jobs', 'id'), ${lower}::bigint)`);
    await runs(3, { days });
    return lower;
  };
  await runs(1, { days: 1 });
  const gone = await inNewRange(50);
  const kept = await inNewRange(10);
  const newest = await inNewRange(10);
  await outputOf('cleanup_jobs', { days: 30 });
  const lower = await lowerEnds();
  expect(lower).not.toContain(gone);
  expect(lower).toEqual(expect.arrayContaining([kept, newest]));
  await expectTotals();
});

it('a cleanup waits for a running system job', async () => {
  const release = holdFirstBatch();
  await runs(1);
  const first = await launch('cleanup_jobs', { days: 30 });
  await release.reached;
  const second = await launch('cleanup_tokens', {});
  await worker.get(Scheduler, { strict: false }).pass();
  const queue = await test.database.row(sql`
    SELECT status FROM unified_jobs WHERE id = ${second.id}`);
  expect(queue).toEqual({ status: 'pending' });
  release.go();
  expect((await ended(first)).status).toBe('successful');
  expect((await ended(second)).status).toBe('successful');
});

it('a cleanup can be canceled between two batches, and removed runs are removed completely', async () => {
  const release = holdFirstBatch();
  const ids = await runs(250, { days: 50 });
  const job = await launch('cleanup_jobs', { days: 30 });
  await release.reached;
  await test.as.superuser.post(`${job.url}cancel/`, {}).expect(202);
  release.go();
  expect((await ended(job)).status).toBe('canceled');
  const rest = await left();
  expect(rest.length).toBeGreaterThan(0);
  expect(rest.length).toBeLessThan(ids.length);
  await expectTotals();
  const output = await outputOf('cleanup_jobs', { days: 30 });
  expect(output).toContain(`Deleted ${rest.length} of ${rest.length} jobs`);
  expect(await left()).toEqual([]);
});

/** Stops the next removal of runs after its first batch, until `go`. */
function holdFirstBatch(): { reached: Promise<void>; go: () => void } {
  const cleanups = worker.get(Cleanups, { strict: false });
  let go!: () => void;
  let reach!: () => void;
  const released = new Promise<void>((resolve) => (go = letGo = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const of = cleanups.of.bind(cleanups);
  const held = (removal: Removal): Removal => ({
    ...removal,
    async *batches() {
      for await (const removed of removal.batches()) {
        yield removed;
        if (removed === 0) continue;
        reach();
        await released;
      }
    },
  });
  jest.spyOn(cleanups, 'of').mockImplementation((...args) => held(of(...args)));
  return { reached, go };
}

it('a cleanup can be launched by a schedule and by a workflow node', async () => {
  await runs(3, { days: 50 });
  const { superuser } = test.as;
  const { body } = await superuser.get('system_job_templates/?job_type=cleanup_jobs').expect(200);
  const [{ id: unified_job_template, url }] = body.results as [{ id: number; url: string }];
  const workflow = await test.make.workflowTemplate();
  await superuser
    .post(`workflow_job_templates/${workflow.id}/workflow_nodes/`, {
      unified_job_template,
      extra_data: { days: 40, dry_run: true },
    })
    .expect(201);
  const path = `workflow_job_templates/${workflow.id}/launch/`;
  const launched = (await superuser.post(path, {}).expect(201)).body as SystemJob;
  expect((await ended(launched)).status).toBe('successful');
  expect(await left()).toHaveLength(4);
  await superuser
    .post(`${url}schedules/`, {
      name: 'Often',
      rrule: 'DTSTART:20200101T000000Z RRULE:FREQ=MINUTELY;INTERVAL=1',
      extra_data: { days: 40 },
    })
    .expect(201);
  await test.database.execute(sql`
    UPDATE schedules SET next_run = now() - interval '1 second' WHERE name = 'Often'`);
  await worker.get(Scheduler, { strict: false }).pass();
  await eventually(async () => expect(await left()).toEqual([launched.id]));
});

it.each<[string, string, Sql, Sql, object]>([
  [
    'cleanup_activitystream',
    'activity stream entries',
    sql`INSERT INTO activity_stream (operation, object1, timestamp) SELECT 'create', 'job',
      now() - make_interval(days => n) FROM unnest('{10,100,101}'::int[]) n`,
    sql`SELECT id FROM activity_stream WHERE timestamp < now() - interval '5 days'`,
    { days: 50 },
  ],
  [
    'cleanup_notifications',
    'notifications',
    sql`INSERT INTO notifications (notification_template_id, notification_type, status, created)
      SELECT tpl.id, 'webhook', status, now() - make_interval(days => n)
      FROM (SELECT id FROM notification_templates LIMIT 1) tpl, (VALUES ('successful', 10),
        ('successful', 100), ('failed', 101), ('pending', 102)) given (status, n)`,
    sql`SELECT id FROM notifications WHERE created < now() - interval '5 days' AND status <> 'pending'`,
    {},
  ],
  [
    'cleanup_tokens',
    'tokens',
    sql`INSERT INTO tokens (user_id, digest, expires) SELECT usr.id, 'old ' || n,
      now() - make_interval(days => n) FROM (SELECT id FROM users LIMIT 1) usr,
      unnest('{-1,1,2}'::int[]) n`,
    sql`SELECT id FROM tokens WHERE digest LIKE 'old %'`,
    {},
  ],
  [
    'cleanup_sessions',
    'sessions',
    sql`INSERT INTO sessions (digest, user_id, generation, last_seen)
      SELECT 'old ' || n, usr.id, 0, now() - make_interval(hours => n) FROM (SELECT id FROM users LIMIT 1) usr,
      unnest('{1,30,40}'::int[]) n`,
    sql`SELECT 1 AS id FROM sessions WHERE digest LIKE 'old %'`,
    { days: 0 },
  ],
  [
    'cleanup_webhook_deliveries',
    'webhook deliveries',
    sql`INSERT INTO webhook_deliveries (service, event, guid, verdict, received) SELECT 'service_a',
      'push', n, 'ignored', now() - make_interval(days => n) FROM unnest('{10,40,50}'::int[]) n`,
    sql`SELECT id FROM webhook_deliveries`,
    {},
  ],
])('%s removes old %s', async (kind, objects, insert, rest, extra_vars) => {
  await test.make.notificationTemplate();
  await test.database.execute(insert);
  expect(await outputOf(kind, { ...extra_vars, dry_run: true })).toEqual([
    `Would delete 2 ${objects}`,
  ]);
  expect(await outputOf(kind, extra_vars)).toEqual([`Deleted 2 of 2 ${objects}`]);
  expect(await idsOf(rest)).toHaveLength(1);
});

it('cleanup_tokens keeps an expired token that its application can refresh', async () => {
  const { body } = await test.as.superuser
    .post('applications/', {
      ...{ name: 'Client', organization: test.home.organization.id, client_type: 'public' },
      ...{ authorization_grant_type: 'authorization-code', redirect_uris: 'https://example.org/' },
    })
    .expect(201);
  await test.database.execute(sql`
    WITH granted AS (
      INSERT INTO tokens (user_id, digest, expires, application_id, grant_id)
      SELECT usr.id, name, now() - interval '1 day', ${Number(body.id)}::int, gen_random_uuid()
      FROM (SELECT id FROM users LIMIT 1) usr, unnest('{valid,expired,used}'::text[]) name
      RETURNING *)
    INSERT INTO refresh_tokens (digest, application_id, user_id, scope, grant_id, expires, used)
    SELECT digest, application_id, user_id, 'read', grant_id,
      now() + CASE digest WHEN 'expired' THEN interval '-1 hour' ELSE interval '1 day' END,
      digest = 'used' FROM granted`);
  expect(await outputOf('cleanup_tokens', {})).toEqual(['Deleted 2 of 2 tokens']);
  expect(await idsOf(sql`SELECT id FROM tokens WHERE digest = 'valid'`)).toHaveLength(1);
});

it('the command removes rows older than the settings, and no runs', async () => {
  const ids = await runs(1);
  await test.database.execute(sql`
    INSERT INTO webhook_deliveries (service, event, guid, verdict, received)
    VALUES ('service_a', 'push', 'old', 'ignored', now() - interval '40 days')`);
  await test.database.execute(sql`
    INSERT INTO tokens (user_id, digest, expires)
    SELECT id, 'long ago', now() - interval '40 days' FROM users LIMIT 1`);
  // The command sets the timeout for its own process.
  await withSettingsOf(test, { STATEMENT_TIMEOUT_MS: '15000' }, () => cleanup());
  expect(await left()).toEqual(ids);
  await expectTotals();
  const rest = await test.database.row(sql`
    SELECT (SELECT count(*)::int FROM job_events) AS events,
      (SELECT count(*)::int FROM webhook_deliveries WHERE guid = 'old') AS deliveries,
      (SELECT count(*)::int FROM tokens WHERE digest = 'long ago') AS tokens`);
  expect(rest).toEqual({ events: 0, deliveries: 0, tokens: 0 });
});
