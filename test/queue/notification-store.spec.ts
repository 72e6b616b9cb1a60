import type { INestApplicationContext } from '@nestjs/common';

import { sql } from '../../src/database/sql.js';
import type { Lease, AttemptOutcome } from '../../src/notifications/notification-lease.js';
import { NotificationStore } from '../../src/notifications/notification-store.service.js';
import { unfinished } from '../../src/notifications/notification.entity.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';

const ABANDONED = 'The worker ended before the outcome was known.';

let test: TestApp;
let workers: INestApplicationContext[];
let one: NotificationStore;
let two: NotificationStore;
let template: number;

beforeAll(async () => {
  test = await boot();
  workers = [await bootWorker(test), await bootWorker(test)];
  [one, two] = workers.map((worker) => worker.get(NotificationStore)) as [
    NotificationStore,
    NotificationStore,
  ];
  const { body } = await test.as.orgAdmin
    .post('notification_templates/', {
      name: 'hook',
      organization: test.home.organization.id,
      notification_type: 'webhook',
      notification_configuration: { url: 'http://127.0.0.1:9/hook', headers: {} },
    })
    .expect(201);
  template = body.id as number;
});
afterAll(async () => {
  for (const worker of workers) await worker.close();
  await test.close();
});

/** Creates notifications whose outbox entries are due later, so that no worker takes them on its own. */
async function queued(count: number): Promise<number[]> {
  const rows = await test.database.rows<{ id: number }>(sql`
    WITH fired AS (
      INSERT INTO notifications (notification_template_id, notification_type, event, message_id)
      SELECT ${template}::int, 'webhook', 'test', gen_random_uuid()::text
      FROM generate_series(1, ${count}::int) RETURNING id
    ), work AS (
      INSERT INTO outbox (queue, subject_id, run_at)
      SELECT 'notifications', id, now() + interval '1 day' FROM fired
    )
    SELECT id FROM fired ORDER BY id`);
  return rows.map(({ id }) => id);
}

async function leased(ids: readonly number[], store = one): Promise<Lease[]> {
  const leases = await Promise.all(ids.map((id) => store.lease(id)));
  return leases.map((lease) => lease!);
}

/** Expires the leases, as if the worker had not responded for longer than its lease. */
const letExpire = (ids: readonly number[]): Promise<number> =>
  test.database.execute(sql`
    UPDATE notifications SET lease_until = now() - interval '1 second'
    WHERE id = ANY(${ids}::bigint[])`);

function outcome(
  status: AttemptOutcome['status'],
  detail = '',
  delaySeconds: number | null = null,
): AttemptOutcome {
  const failed = status !== 'successful';
  return {
    status,
    error: failed ? detail : '',
    sent: failed ? 0 : 1,
    delivered: [],
    delaySeconds,
    message: { subject: detail, body: { body: detail }, text: detail },
    attempt: { statusCode: failed ? 500 : 200, detail, durationMs: 7 },
  };
}

interface Standing {
  status: string;
  error: string;
  subject: string;
  leased: boolean;
  waits: number | null;
  attempts: { number: number; successful: boolean | null; detail: string }[];
  /** Seconds until the outbox entry is due; null if there is none. */
  work: number | null;
}

async function standingOf(id: number): Promise<Standing> {
  const row = await test.database.row<Standing & { id: number }>(sql`
    SELECT status, error, subject, lease_until IS NOT NULL AS leased,
      round(extract(epoch FROM next_attempt_at - now()))::int AS waits,
      (SELECT json_agg(json_build_object('number', number, 'successful', successful,
        'detail', detail) ORDER BY number)
        FROM notification_attempts WHERE notification_id = n.id) AS attempts,
      (SELECT round(extract(epoch FROM run_at - now()))::int FROM outbox
        WHERE queue = 'notifications' AND subject_id = n.id) AS work
    FROM notifications n WHERE id = ${id}`);
  return row!;
}

it('finished, waiting and lost work is settled immediately', async () => {
  const ids = await queued(4);
  const [sent, refused, waiting, lost] = await leased(ids);
  await letExpire([ids[3]!]);
  await leased([ids[3]!], two);

  const settle = () =>
    Promise.all([
      one.settle(sent!, outcome('successful', 'went')),
      one.settle(refused!, outcome('failed', 'refused')),
      one.settle(waiting!, outcome('failed', 'busy', 600)),
      one.settle(lost!, outcome('successful', 'too late')),
    ]);
  expect(await countQueries(test.database, settle)).toBe(0);

  expect(await standingOf(ids[0]!)).toMatchObject({
    status: 'successful',
    subject: 'went',
    leased: false,
    waits: null,
    attempts: [{ number: 1, successful: true, detail: 'went' }],
    work: null,
  });
  expect(await standingOf(ids[1]!)).toMatchObject({
    status: 'failed',
    error: 'refused',
    attempts: [{ number: 1, successful: false, detail: 'refused' }],
    work: null,
  });
  const still = await standingOf(ids[2]!);
  expect(still).toMatchObject({ status: 'failed', error: 'busy', leased: false });
  expect(still.waits).toBeGreaterThan(590);
  expect(still.waits).toBeLessThanOrEqual(600);
  expect(still.work).toBeGreaterThan(590);
  expect(still.work).toBeLessThanOrEqual(600);
  // The other worker's attempt continues, and the late result is recorded in its own attempt only.
  const elsewhere = await standingOf(ids[3]!);
  expect(elsewhere).toMatchObject({
    status: 'failed',
    error: ABANDONED,
    subject: '',
    leased: true,
  });
  expect(elsewhere.attempts).toEqual([
    { number: 1, successful: true, detail: 'too late' },
    { number: 2, successful: null, detail: '' },
  ]);
  expect(elsewhere.work).toBeGreaterThan(80_000);
});

it.each([
  ['successful', null],
  ['failed', 600],
] as const)('a lost lease removes and postpones no work (%s)', async (status, delaySeconds) => {
  const ids = await queued(1);
  const [lost] = await leased(ids);
  await letExpire(ids);
  const [held] = await leased(ids, two);
  await one.settle(lost!, outcome(status, 'too late', delaySeconds));
  expect(await standingOf(ids[0]!)).toMatchObject({ status: 'failed', leased: true });
  expect((await standingOf(ids[0]!)).work).toBeGreaterThan(80_000);

  await two.settle(held!, outcome('successful', 'went'));
  expect(await standingOf(ids[0]!)).toMatchObject({
    status: 'successful',
    subject: 'went',
    work: null,
  });
  // A late result does not change a final status either.
  await one.settle(lost!, outcome('failed', 'later still', 600));
  expect(await standingOf(ids[0]!)).toMatchObject({
    status: 'successful',
    error: '',
    waits: null,
    work: null,
  });
});

it('a retry is planned until its end, so that the worker can fail meanwhile', async () => {
  const ids = await queued(1);
  const [first] = await leased(ids);
  await one.settle(first!, outcome('failed', 'busy', 0));
  const [second] = await leased(ids);
  const underWay = await standingOf(ids[0]!);
  expect(underWay).toMatchObject({ status: 'failed', error: 'busy', leased: true });
  expect(underWay.waits).toBeLessThanOrEqual(0);

  await letExpire(ids);
  const [third] = await leased(ids, two);
  expect(await standingOf(ids[0]!)).toMatchObject({
    status: 'failed',
    error: ABANDONED,
    attempts: [
      { number: 1, successful: false, detail: 'busy' },
      { number: 2, successful: false, detail: ABANDONED },
      { number: 3, successful: null },
    ],
  });
  await two.settle(third!, outcome('successful', 'went'));
  await one.settle(second!, outcome('failed', 'too late', 600));
  expect(await standingOf(ids[0]!)).toMatchObject({
    status: 'successful',
    error: '',
    waits: null,
    work: null,
  });
});

it('the attempt of a dead worker is recorded even if the next attempt must wait', async () => {
  const ids = await queued(2);
  await leased([ids[0]!]);
  await letExpire([ids[0]!]);
  for (const id of ids) await one.postpone(id, 600, 'paused');
  expect(await standingOf(ids[0]!)).toMatchObject({
    status: 'failed',
    error: ABANDONED,
    leased: false,
    attempts: [{ number: 1, successful: false, detail: ABANDONED }],
  });
  expect(await standingOf(ids[1]!)).toMatchObject({
    status: 'failed',
    error: 'paused',
    attempts: null,
  });
  for (const id of ids) {
    const { waits, work } = await standingOf(id);
    expect([waits, work]).toEqual([expect.closeTo(600, -1), expect.closeTo(600, -1)]);
  }
});

it('a released lease is not renewed', async () => {
  const ids = await queued(1);
  const [lease] = await leased(ids);
  await one.settle(lease!, outcome('failed', 'busy', 600));
  await one.renew(lease!);
  expect(await standingOf(ids[0]!)).toMatchObject({ status: 'failed', leased: false });
});

it('the former holder of a lease neither renews it nor stores recipients', async () => {
  const ids = await queued(1);
  const [former] = await leased(ids);
  await letExpire(ids);
  const [lease] = await leased(ids, two);
  await letExpire(ids);
  await one.renew(former!);
  await one.keepDelivered(former!, ['#former']);
  const stored = await test.database.row(sql`
    SELECT lease_until < now() AS expired, delivered FROM notifications WHERE id = ${ids[0]}`);
  expect(stored).toEqual({ expired: true, delivered: [] });
  await two.keepDelivered(lease!, ['#ops']);
  await two.renew(lease!);
  await one.postpone(ids[0]!, 600, 'paused');
  expect(await standingOf(ids[0]!)).toMatchObject({ leased: true });
  const [next] = await letExpire(ids).then(() => leased(ids));
  expect(next!.delivered).toEqual(['#ops']);
});

it('an old notification is overdue, so that no further attempt follows', async () => {
  const ids = await queued(2);
  await test.database.execute(sql`
    UPDATE notifications SET created = now() - interval '9 hours' WHERE id = ${ids[0]}`);
  const leases = await leased(ids);
  expect(leases.map(({ overdue }) => overdue)).toEqual([true, false]);
});

it('pending notifications are found without a scan of the history', async () => {
  await test.database.execute(sql`
    INSERT INTO notifications (notification_template_id, notification_type, event, status)
    SELECT ${template}::int, 'webhook', 'error', 'failed' FROM generate_series(1, 20000)`);
  await test.database.execute(sql`ANALYZE notifications`);
  const plan = await test.database.rows(sql`
    EXPLAIN SELECT id FROM notifications n
    WHERE n.notification_template_id = ${template} AND n.id < 6000000000 AND ${unfinished('n')}`);
  expect(JSON.stringify(plan)).toContain('notifications_unfinished_idx');
});

it('each notification is sent by one of two competing workers', async () => {
  const ids = await queued(120);
  const [first, second] = await Promise.all(
    [one, two].map((store) => Promise.all(ids.map((id) => store.lease(id)))),
  );
  const owners = ids.map((_, index) => [first![index], second![index]].filter(Boolean).length);
  expect(owners).toEqual(ids.map(() => 1));

  await Promise.all([
    ...first!.flatMap((lease) => (lease ? [one.settle(lease, outcome('successful'))] : [])),
    ...second!.flatMap((lease) => (lease ? [two.settle(lease, outcome('failed', 'no'))] : [])),
  ]);
  const rows = await test.database.rows<{ status: string }>(sql`
    SELECT DISTINCT status FROM notifications WHERE id = ANY(${ids}::bigint[]) AND status = 'pending'
    UNION ALL SELECT 'work left' FROM outbox WHERE subject_id = ANY(${ids}::bigint[])`);
  expect(rows).toEqual([]);
});

it('other notifications are settled if a template was deleted meanwhile', async () => {
  const ids = await queued(3);
  const leases = await leased(ids);
  await test.database.execute(sql`DELETE FROM notifications WHERE id = ${ids[1]!}`);
  await Promise.all(
    leases.map((lease, index) =>
      one.settle(lease, index === 0 ? outcome('failed', 'rejected', 600) : outcome('successful')),
    ),
  );
  expect(await standingOf(ids[0]!)).toMatchObject({ status: 'failed', error: 'rejected' });
  expect(await standingOf(ids[2]!)).toMatchObject({ status: 'successful', work: null });
});

it('other notifications are settled if the text of one cannot be stored', async () => {
  const ids = await queued(3);
  const leases = await leased(ids);
  const settlements = await Promise.allSettled(
    leases.map((lease, index) => one.settle(lease, outcome('failed', index === 1 ? '\0' : 'no'))),
  );
  expect(settlements.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await standingOf(ids[0]!)).toMatchObject({ status: 'failed', work: null });
  expect(await standingOf(ids[1]!)).toMatchObject({ status: 'pending', leased: true });
  expect(await standingOf(ids[2]!)).toMatchObject({ status: 'failed', work: null });
});
