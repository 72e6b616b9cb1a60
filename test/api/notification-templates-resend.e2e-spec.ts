import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { PERSONA_NAMES } from '../support/personas.js';
import { countQueries } from '../support/queries.js';

const RANGE = { from: '2026-01-02T00:00:00Z', to: '2026-01-03T00:00:00Z' };

let test: TestApp;
let template: Row;
let path: string;

beforeAll(async () => {
  test = await boot({ settings: { NOTIFICATION_TEST_RATE: '1000' } });
});
afterAll(() => test.close());
beforeEach(async () => {
  template = await test.make.notificationTemplate({ organization: test.home.organization.id });
  path = `notification_templates/${template.id}/resend/`;
});

interface Made {
  created?: string;
  status?: string;
  event?: string;
  resendOf?: number;
}

/** Creates a record as the notifier leaves it. */
async function made({
  created = '2026-01-02T12:00:00Z',
  status = 'failed',
  event = 'error',
  resendOf,
}: Made = {}): Promise<number> {
  const row = await test.database.row<{ id: number }>(sql`
    INSERT INTO notifications (notification_template_id, notification_type, recipients, subject,
      body, text, event, status, message_id, delivered, created, resend_of_id, resent)
    VALUES (${template.id}, 'webhook', 'somewhere', 'subject', '{"a": 1}', '{"a": 1}', ${event},
      ${status}, 'stable', '["reached"]', ${created}::timestamptz, ${resendOf ?? null},
      ${resendOf !== undefined})
    RETURNING id`);
  return row!.id;
}

const setStatus = (ids: readonly number[], status: string): Promise<number> =>
  test.database.execute(sql`
    UPDATE notifications SET status = ${status} WHERE id = ANY(${ids}::bigint[])`);

async function resend(body: object = RANGE): Promise<{ count: number; notifications: number[] }> {
  const answer = await test.as.orgAdmin.post(path, body).expect(202);
  return answer.body;
}

async function originals(ids: readonly number[]): Promise<(number | null)[]> {
  const rows = await test.database.rows<{ resend_of_id: number }>(sql`
    SELECT resend_of_id FROM notifications WHERE id = ANY(${ids}::bigint[]) ORDER BY id`);
  return rows.map(({ resend_of_id }) => resend_of_id);
}

describe('a resend', () => {
  it('includes failed notifications of the range: its start included, its end excluded', async () => {
    await made({ created: '2026-01-01T23:59:59Z' });
    const first = await made({ created: RANGE.from });
    const second = await made();
    await made({ created: RANGE.to });
    await made({ status: 'successful' });
    await made({ status: 'pending' });
    await made({ event: 'test' });
    const other = await test.make.notificationTemplate({ organization: test.home.organization.id });
    await test.database.execute(sql`
      INSERT INTO notifications (notification_template_id, notification_type, event, status,
        created)
      VALUES (${other.id}, 'webhook', 'error', 'failed', ${RANGE.from}::timestamptz)`);

    const { count, notifications } = await resend();
    expect(count).toBe(2);
    expect(await originals(notifications)).toEqual([first, second]);
    const rows = await test.database.rows(sql`
      SELECT status, message_id, delivered, text, resent, attempts FROM notifications
      WHERE id = ANY(${notifications}::bigint[])`);
    const repeated = {
      status: 'pending',
      message_id: 'stable',
      delivered: ['reached'],
      text: '{"a": 1}',
      resent: true,
      attempts: 0,
    };
    expect(rows).toEqual([repeated, repeated]);
    const queued = await test.database.rows(sql`
      SELECT subject_id FROM outbox
      WHERE queue = 'notifications' AND subject_id = ANY(${notifications}::bigint[])`);
    expect(queued).toHaveLength(2);
  });

  it('covers the range until now without an end', async () => {
    await made({ created: new Date(Date.now() - 60_000).toISOString() });
    await made({ created: new Date(Date.now() + 3_600_000).toISOString() });
    expect((await resend({ from: '2026-01-01' })).count).toBe(1);
  });

  it('can include successful notifications, as new messages, and selected events', async () => {
    await made();
    await made({ status: 'successful', event: 'started' });
    const wanted = await made({ status: 'successful' });
    const { notifications } = await resend({
      ...RANGE,
      statuses: ['successful'],
      events: ['error'],
    });
    expect(await originals(notifications)).toEqual([wanted]);
    const row = await test.database.row<{ message_id: string; delivered: string[] }>(sql`
      SELECT message_id, delivered FROM notifications WHERE id = ${notifications[0]}`);
    expect(row?.message_id).not.toBe('stable');
    expect(row?.delivered).toEqual([]);
  });

  it('sends each notification once, even if it is requested repeatedly', async () => {
    await made();
    const { notifications } = await resend();
    expect(await resend()).toEqual({ count: 0, notifications: [] });
    await setStatus(notifications, 'successful');
    expect((await resend()).count).toBe(0);
  });

  it('repeats the latest attempt if it failed too', async () => {
    const original = await made();
    const { notifications } = await resend();
    await setStatus(notifications, 'failed');
    const again = await resend();
    expect(await originals(again.notifications)).toEqual(notifications);
    // The failed one was resent manually, with success: none is left to resend.
    await setStatus(again.notifications, 'failed');
    await made({ resendOf: original, status: 'successful', created: '2026-02-01T00:00:00Z' });
    expect((await resend()).count).toBe(0);
  });

  it('sends each notification once for simultaneous requests', async () => {
    for (let i = 0; i < 5; i++) await made();
    const answers = await Promise.all(Array.from({ length: 4 }, () => resend()));
    expect(answers.map(({ count }) => count).sort()).toEqual([0, 0, 0, 5]);
  });

  it('is previewed by a dry run, which writes nothing', async () => {
    const ids = [await made(), await made()];
    const { body } = await test.as.orgAdmin.post(`${path}?dry_run=1`, RANGE).expect(200);
    expect(body).toEqual({ dry_run: true, count: 2, notifications: ids });
    expect((await resend()).count).toBe(2);
  });

  it('runs once for an Idempotency-Key, also for successful notifications', async () => {
    await made({ status: 'successful' });
    const request = { ...RANGE, statuses: ['successful'] };
    const once = () =>
      test.as.orgAdmin.post(path, request).set('Idempotency-Key', `resend ${template.id}`);
    const first = await once().expect(202);
    await setStatus(first.body.notifications as number[], 'successful');
    const second = await once().expect(202);
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  it('needs the same number of statements for one notification and for many', async () => {
    await made();
    // Reads the settings into the cache.
    await resend();
    await made();
    const one = await countQueries(test.database, () => resend());
    for (let i = 0; i < 30; i++) await made();
    expect(await countQueries(test.database, () => resend())).toBe(one);
  });
});

describe('a resend is refused', () => {
  it.each([
    [{}, { from: ['This field is required.'] }],
    [
      { from: 'yesterday' },
      { from: [expect.stringMatching(/^Datetime has wrong format\. Use one of these formats/)] },
    ],
    [
      { ...RANGE, from: { toString: 1 } },
      { from: [expect.stringMatching(/^Datetime has wrong format\. Use one of these formats/)] },
    ],
    [{ from: RANGE.to, to: RANGE.from }, { to: ['The end must be after the beginning.'] }],
    [{ ...RANGE, statuses: [] }, { statuses: ['This list may not be empty.'] }],
    [
      { ...RANGE, statuses: ['failed', 'pending'] },
      { statuses: { 1: ['"pending" is not a valid choice.'] } },
    ],
    [{ ...RANGE, events: [7] }, { events: { 0: ['Not a valid string.'] } }],
    [{ ...RANGE, events: ['test'] }, { events: { 0: ['"test" is not a valid choice.'] } }],
    [{ ...RANGE, statuses: 'failed' }, { statuses: ['Value must be valid JSON.'] }],
  ])('with %j', async (body, errors) => {
    const answer = await test.as.orgAdmin.post(path, body).expect(400);
    expect(answer.body).toEqual(errors);
  });

  it('above the limit: nothing is sent, and exactly the limit is accepted', async () => {
    const limit = (value: number) =>
      test.as.superuser
        .patch('settings/notifications/', { NOTIFICATION_RESEND_MAX: value })
        .expect(200);
    for (let i = 0; i < 3; i++) await made();
    await limit(2);
    const { body } = await test.as.orgAdmin.post(path, RANGE).expect(400);
    expect(body).toEqual({
      __all__: [
        'Number of notifications exceeds system setting NOTIFICATION_RESEND_MAX: 3 found, 2 allowed.',
      ],
    });
    await limit(3);
    expect((await resend()).count).toBe(3);
    await limit(1000);
  });

  it.each(PERSONA_NAMES)('to users who may not change the template: %s', async (name) => {
    const may = ['superuser', 'orgAdmin'].includes(name);
    await test.as[name].post(path, RANGE).expect(may ? 202 : 403);
    await test.as[name].post(`${path}?dry_run=1`, RANGE).expect(may ? 200 : 403);
  });

  it('to users without access, and for missing templates', async () => {
    await test.as.anonymous.post(path, RANGE).expect(401);
    await test.as.superuser.post('notification_templates/2147483000/resend/', RANGE).expect(404);
    await test.as.superuser.get(path).expect(405);
  });
});

it('a resend creates one entry in the audit trail', async () => {
  await made();
  await made();
  await resend();
  await resend();
  const { body } = await test.as.orgAdmin.get(`notification_templates/${template.id}/`).expect(200);
  expect(body.related.resend).toBe(`/api/v2/${path}`);
  const stream = await test.as.superuser
    .get('activity_stream/?object1=notification_template&operation=update&order_by=-id')
    .expect(200);
  const entries = (stream.body.results as { changes: { notifications_resent?: number } }[]).filter(
    ({ changes }) => changes.notifications_resent !== undefined,
  );
  expect(entries[0]!.changes).toEqual({
    notifications_resent: 2,
    ...RANGE,
    statuses: ['failed'],
    events: [],
  });
});
