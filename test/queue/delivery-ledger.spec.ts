import type { INestApplicationContext } from '@nestjs/common';
import { sql } from '../../src/database/sql.js';
import {
  DeliveryLedger,
  type Lease,
  type Outcome,
} from '../../src/notifications/delivery-ledger.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { countQueries } from '../support/queries.js';

let test: TestApp;
let workers: INestApplicationContext[];
let one: DeliveryLedger;
let two: DeliveryLedger;
let template: number;

beforeAll(async () => {
  test = await boot();
  workers = [await bootWorker(test), await bootWorker(test)];
  [one, two] = workers.map((worker) => worker.get(DeliveryLedger)) as [
    DeliveryLedger,
    DeliveryLedger,
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

/** Notifications whose work lies in the outbox for later, so that no worker takes it by himself. */
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

async function leased(ids: readonly number[], ledger = one): Promise<Lease[]> {
  const leases = await Promise.all(ids.map((id) => ledger.lease(id)));
  return leases.map((lease) => lease!);
}

/** As time would: the worker that holds them was away for longer than its lease. */
const letExpire = (ids: readonly number[]): Promise<number> =>
  test.database.execute(sql`
    UPDATE notifications SET lease_until = now() - interval '1 second'
    WHERE id = ANY(${ids}::int[])`);

function outcome(status: Outcome['status'], detail = ''): Outcome {
  const failed = status !== 'successful';
  return {
    status,
    error: failed ? detail : '',
    sent: failed ? 0 : 1,
    delivered: [],
    delaySeconds: status === 'pending' ? 600 : 0,
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
  /** When its work comes back, in seconds; null when the outbox has forgotten it. */
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

it('settles at once what ended, what waits and what somebody else has by now', async () => {
  const ids = await queued(4);
  const [sent, refused, waiting, lost] = await leased(ids);
  await letExpire([ids[3]!]);
  await leased([ids[3]!], two);

  const settle = () =>
    Promise.all([
      one.settle(sent!, outcome('successful', 'went')),
      one.settle(refused!, outcome('failed', 'refused')),
      one.settle(waiting!, outcome('pending', 'busy')),
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
  expect(still).toMatchObject({ status: 'pending', error: 'busy', leased: false });
  expect(still.waits).toBeGreaterThan(590);
  expect(still.waits).toBeLessThanOrEqual(600);
  expect(still.work).toBeGreaterThan(590);
  expect(still.work).toBeLessThanOrEqual(600);
  // The other worker's attempt goes on; what this one did is told in its own attempt alone.
  const elsewhere = await standingOf(ids[3]!);
  expect(elsewhere).toMatchObject({ status: 'pending', error: '', subject: '', leased: true });
  expect(elsewhere.attempts).toEqual([
    { number: 1, successful: true, detail: 'too late' },
    { number: 2, successful: null, detail: '' },
  ]);
  expect(elsewhere.work).toBeGreaterThan(80_000);
});

it.each(['successful', 'pending'] as const)(
  'a lease that was lost takes no work off and puts none off (%s)',
  async (status) => {
    const ids = await queued(1);
    const [lost] = await leased(ids);
    await letExpire(ids);
    const [held] = await leased(ids, two);
    await one.settle(lost!, outcome(status, 'too late'));
    expect(await standingOf(ids[0]!)).toMatchObject({ status: 'pending', leased: true });
    expect((await standingOf(ids[0]!)).work).toBeGreaterThan(80_000);

    await two.settle(held!, outcome('successful', 'went'));
    expect(await standingOf(ids[0]!)).toMatchObject({
      status: 'successful',
      subject: 'went',
      work: null,
    });
    // Nor does a late word change what is final.
    await one.settle(lost!, outcome('pending', 'later still'));
    expect(await standingOf(ids[0]!)).toMatchObject({
      status: 'successful',
      error: '',
      waits: null,
      work: null,
    });
  },
);

it('gives each notification to one of two workers that want all of them', async () => {
  const ids = await queued(120);
  const [first, second] = await Promise.all(
    [one, two].map((ledger) => Promise.all(ids.map((id) => ledger.lease(id)))),
  );
  const owners = ids.map((_, index) => [first![index], second![index]].filter(Boolean).length);
  expect(owners).toEqual(ids.map(() => 1));

  await Promise.all([
    ...first!.flatMap((lease) => (lease ? [one.settle(lease, outcome('successful'))] : [])),
    ...second!.flatMap((lease) => (lease ? [two.settle(lease, outcome('failed', 'no'))] : [])),
  ]);
  const rows = await test.database.rows<{ status: string }>(sql`
    SELECT DISTINCT status FROM notifications WHERE id = ANY(${ids}::int[]) AND status = 'pending'
    UNION ALL SELECT 'work left' FROM outbox WHERE subject_id = ANY(${ids}::int[])`);
  expect(rows).toEqual([]);
});

it('settles the others where a template went with its notifications meanwhile', async () => {
  const ids = await queued(3);
  const leases = await leased(ids);
  await test.database.execute(sql`DELETE FROM notifications WHERE id = ${ids[1]!}`);
  await Promise.all(
    leases.map((lease, index) =>
      one.settle(lease, outcome(index === 0 ? 'pending' : 'successful', 'told')),
    ),
  );
  expect(await standingOf(ids[0]!)).toMatchObject({ status: 'pending', error: 'told' });
  expect(await standingOf(ids[2]!)).toMatchObject({ status: 'successful', work: null });
});

it('settles the others where the words of one cannot be written down', async () => {
  const ids = await queued(3);
  const leases = await leased(ids);
  const told = await Promise.allSettled(
    leases.map((lease, index) => one.settle(lease, outcome('failed', index === 1 ? '\0' : 'no'))),
  );
  expect(told.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await standingOf(ids[0]!)).toMatchObject({ status: 'failed', work: null });
  expect(await standingOf(ids[1]!)).toMatchObject({ status: 'pending', leased: true });
  expect(await standingOf(ids[2]!)).toMatchObject({ status: 'failed', work: null });
});
