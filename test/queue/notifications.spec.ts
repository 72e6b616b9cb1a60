import type { INestApplicationContext } from '@nestjs/common';

import { sql } from '../../src/database/sql.js';
import {
  NOTIFICATION_TYPES,
  type NotificationType,
} from '../../src/notifications/backends/notification-type.js';
import { NotificationsRepository } from '../../src/notifications/notifications.repository.js';
import { Notifier } from '../../src/notifications/notifier.handler.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { IrcSink } from '../support/fakes/irc-sink.js';
import { configurationsFor } from '../support/fakes/notification-configurations.js';
import { SmtpSink } from '../support/fakes/smtp-sink.js';
import { fire } from './fire.js';

/** A refusal after which only the test starts the next attempt, because the sweeper waits longer. */
const busy = (status: number) => ({ status, headers: { 'retry-after': '1000' } });

const CANARY = /canary-[a-z-]+-9f3b/;

let http: HttpSink;
let smtp: SmtpSink;
let irc: IrcSink;
let test: TestApp;
let worker: INestApplicationContext;
let counter = 0;

beforeAll(async () => {
  http = await HttpSink.start();
  smtp = await SmtpSink.start();
  irc = await IrcSink.start();
  test = await boot({
    settings: {
      CHAT_A_API_URL: http.url,
      SMS_A_API_URL: http.url,
      INCIDENT_A_API_URL: http.url,
      BASE_URL: 'https://controller.example',
      NOTIFICATION_TEST_RATE: '1000',
    },
  });
  worker = await bootWorker(test);
});
afterAll(async () => {
  await worker.close();
  await test.close();
  await Promise.all([http.close(), smtp.close(), irc.close()]);
});

// Templates of one hook share its destination, so a breaker must not outlive its test.
afterEach(async () => {
  await test.database.execute(sql`DELETE FROM outbound_breakers`);
});

interface NotificationRow {
  id: number;
  status: string;
  error: string;
  attempts: number;
  notifications_sent: number;
  delivered: string[];
  message_id: string;
  wait: number | null;
  leased: boolean;
}

async function template(
  type: NotificationType,
  ports: { http?: number; change?: object } = {},
): Promise<{ id: number; url: string }> {
  const all = configurationsFor({
    http: ports.http ?? http.port,
    smtp: smtp.port,
    irc: irc.port,
  });
  const { body } = await test.as.orgAdmin
    .post('notification_templates/', {
      name: `${type} ${(counter += 1)}`,
      organization: test.home.organization.id,
      notification_type: type,
      notification_configuration: { ...all[type], ...ports.change },
    })
    .expect(201);
  return body as { id: number; url: string };
}

async function send({ url }: { url: string }): Promise<number> {
  const { body } = await test.as.orgAdmin.post(`${url}test/`, {}).expect(200);
  return body.notification as number;
}

async function rowOf(id: number): Promise<NotificationRow> {
  const row = await test.database.row<NotificationRow>(sql`
    SELECT id, status, error, attempts, notifications_sent, delivered, message_id,
      extract(epoch FROM next_attempt_at - now())::float8 AS wait,
      lease_until IS NOT NULL AS leased
    FROM notifications WHERE id = ${id}`);
  return row!;
}

/** The row once an attempt is over. */
const attempted = (id: number, attempts = 1): Promise<NotificationRow> =>
  eventually(async () => {
    const row = await rowOf(id);
    expect(row).toMatchObject({ attempts, leased: false });
    return row;
  }, 20_000);

/** Makes the next attempt due. */
async function passTime(id: number): Promise<void> {
  await test.database.execute(sql`
    UPDATE notifications SET next_attempt_at = now() WHERE id = ${id}`);
  await worker.get(Notifier).handle(id);
}

const attemptsOf = async (id: number): Promise<Record<string, unknown>[]> =>
  (await test.as.orgAdmin.get(`notifications/${id}/attempts/?order_by=number`).expect(200)).body
    .results as Record<string, unknown>[];

describe('every notification type', () => {
  it.each(NOTIFICATION_TYPES)('%s', async (type) => {
    http.requests.length = 0;
    smtp.mails.length = 0;
    if (type === 'chat_a') http.reply({ body: { ok: true } }, { body: { ok: true } });
    const made = await template(type);
    const id = await send(made);
    expect(await attempted(id)).toMatchObject({ status: 'successful', error: '' });
    const subject = `Notification Test ${made.id} https://controller.example`;
    const sent = [
      ...http.requests.map(({ body }) => decodeURIComponent(body.replaceAll('+', ' '))),
      ...smtp.mails.map(({ raw }) => raw),
      ...irc.messages.map(({ text }) => text),
    ].join('\n');
    expect(sent).toContain(type === 'webhook' ? `Test Notification ${made.id}` : subject);
    const targets: Partial<Record<NotificationType, number>> = { chat_a: 2, irc: 2 };
    const { body } = await test.as.orgAdmin.get(`notifications/${id}/`).expect(200);
    expect(body).toMatchObject({ notifications_sent: targets[type] ?? 1, subject });
    expect(typeof body.body).toBe('object');
    const [attempt] = await attemptsOf(id);
    expect(attempt).toMatchObject({ number: 1, successful: true, notification: id });
    expect(JSON.stringify([body, attempt])).not.toMatch(CANARY);
    const left = await test.database.rows(sql`
      SELECT 1 FROM outbox WHERE queue = 'notifications' AND subject_id = ${id}`);
    expect(left).toEqual([]);
  });
});

it('a test has the message of the type that its template gets at the same time', async () => {
  const made = await template('chat_b');
  const { webhook } = configurationsFor({ http: http.port, smtp: smtp.port, irc: irc.port });
  const records = test.app.get(NotificationsRepository, { strict: false });
  const addTest = records.addTest.bind(records);
  jest.spyOn(records, 'addTest').mockImplementationOnce(async (...args) => {
    await test.as.orgAdmin
      .patch(made.url, { notification_type: 'webhook', notification_configuration: webhook })
      .expect(200);
    return addTest(...args);
  });
  http.requests.length = 0;
  expect(await attempted(await send(made))).toMatchObject({ status: 'successful' });
  expect(JSON.parse(http.requests[0]!.body)).toEqual({
    body: `Test Notification ${made.id} https://controller.example`,
  });
});

it('a resent test has the message of the new type of its template', async () => {
  const made = await template('webhook');
  const id = await send(made);
  await attempted(id);
  const { chat_b } = configurationsFor({ http: http.port, smtp: smtp.port, irc: irc.port });
  await test.as.orgAdmin
    .patch(made.url, { notification_type: 'chat_b', notification_configuration: chat_b })
    .expect(200);
  http.requests.length = 0;
  const { body } = await test.as.orgAdmin.post(`notifications/${id}/resend/`, {}).expect(202);
  expect(await attempted(body.id as number)).toMatchObject({ status: 'successful', error: '' });
  expect(http.requests[0]!.body).toContain(`Notification Test ${made.id}`);
});

describe('retries', () => {
  it('keep the id and are visible until the end', async () => {
    const made = await template('webhook');
    http.requests.length = 0;
    http.reply({ status: 503, body: 'down for repair' });
    const id = await fire(test, made);
    const waiting = await attempted(id);
    expect(waiting).toMatchObject({
      status: 'failed',
      error: 'Error sending webhook notification: 503',
    });
    expect(waiting.wait).toBeLessThanOrEqual(5);
    await passTime(id);
    expect(await attempted(id, 2)).toMatchObject({ status: 'successful', error: '', wait: null });
    expect(await attemptsOf(id)).toMatchObject([
      { number: 1, successful: false, status_code: 503, detail: 'down for repair' },
      { number: 2, successful: true, status_code: 200 },
    ]);
    const ids = http.requests.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids)).toEqual(new Set([waiting.message_id]));
    expect(ids).toHaveLength(2);
  });

  it('never repeat a refused notification', async () => {
    const made = await template('webhook');
    http.reply(400);
    const id = await fire(test, made);
    expect(await attempted(id)).toMatchObject({
      status: 'failed',
      error: 'Error sending webhook notification: 400',
      wait: null,
    });
    await test.as.orgAdmin.delete(made.url).expect(204);
  });

  it('wait as long as the service requests', async () => {
    const made = await template('webhook');
    http.reply({ status: 429, headers: { 'retry-after': '100' } });
    const { wait } = await attempted(await fire(test, made));
    expect(wait).toBeGreaterThan(95);
  });

  it('end after eight attempts', async () => {
    const made = await template('webhook');
    http.reply(busy(503), busy(503));
    const id = await fire(test, made);
    await attempted(id);
    await test.database.execute(sql`UPDATE notifications SET attempts = 7 WHERE id = ${id}`);
    await passTime(id);
    expect(await attempted(id, 8)).toMatchObject({
      status: 'failed',
      error: 'Error sending webhook notification: 503',
    });
  });

  it('include only the recipients that were not reached', async () => {
    const made = await template('chat_a');
    http.requests.length = 0;
    http.reply({ body: { ok: true } }, busy(503), { body: { ok: true } });
    const id = await fire(test, made);
    expect(await attempted(id)).toMatchObject({ status: 'failed', delivered: ['#ops'] });
    await passTime(id);
    expect(await attempted(id, 2)).toMatchObject({ status: 'successful', notifications_sent: 2 });
    const channels = http.requests.map(
      ({ body }) => (JSON.parse(body) as { channel: string }).channel,
    );
    expect(channels).toEqual(['ops', 'dev', 'dev']);
  });

  it('include only the recipients that were not reached when the worker died', async () => {
    const made = await template('chat_a');
    let answer = (): void => undefined;
    const until = new Promise<void>((resolve) => (answer = resolve));
    http.reply({ body: { ok: true } }, { body: { ok: true }, until });
    const id = await fire(test, made);
    await eventually(async () => {
      expect(await rowOf(id)).toMatchObject({ leased: true, delivered: ['#ops'] });
    });
    answer();
    expect(await attempted(id)).toMatchObject({ status: 'successful', notifications_sent: 2 });
  });

  it('include all recipients of a new type', async () => {
    const made = await template('chat_a');
    http.reply({ body: { ok: true } }, busy(503));
    const id = await fire(test, made);
    expect(await attempted(id)).toMatchObject({ status: 'failed', delivered: ['#ops'] });
    const configuration = configurationsFor({
      http: http.port,
      smtp: smtp.port,
      irc: irc.port,
    }).irc;
    await test.as.orgAdmin
      .patch(made.url, { notification_type: 'irc', notification_configuration: configuration })
      .expect(200);
    irc.messages.length = 0;
    await passTime(id);
    expect(await attempted(id, 2)).toMatchObject({ status: 'successful', notifications_sent: 2 });
    expect(new Set(irc.messages.map(({ target }) => target))).toEqual(new Set(['#ops', 'someone']));
  });

  it('continue after a worker died, at most twice and with the same id', async () => {
    const made = await template('webhook');
    http.reply(busy(503));
    const id = await fire(test, made);
    const before = await attempted(id);
    // State after a SIGKILL between sending and recording.
    await test.database.execute(sql`
      UPDATE notifications SET lease_until = now() - interval '1 second', next_attempt_at = now()
      WHERE id = ${id}`);
    await test.database.execute(sql`
      UPDATE notification_attempts SET successful = NULL, detail = '' WHERE notification_id = ${id}`);
    await worker.get(Notifier).handle(id);
    const after = await attempted(id, 2);
    expect(after).toMatchObject({ status: 'successful', message_id: before.message_id });
    expect(await attemptsOf(id)).toMatchObject([
      { successful: false, detail: 'The worker ended before the outcome was known.' },
      { successful: true },
    ]);
  });

  it('never apply to forbidden private addresses', async () => {
    const made = await template('webhook', { change: { url: 'http://10.0.0.1/hook' } });
    const row = await attempted(await send(made));
    expect(row.status).toBe('failed');
    expect(row.error).toContain('OUTBOUND_ALLOW');
  });
});

const PAUSED = 'Deliveries to this destination are paused, because it could not be reached.';

/** Opens the breaker, as five failures in a row would. */
const openBreaker = ({ id }: { id: number }): Promise<number> =>
  test.database.execute(sql`
    INSERT INTO outbound_breakers (destination, failures, open_until)
    SELECT destination, 5, now() + interval '1 minute' FROM notification_templates
    WHERE id = ${id}`);

describe('circuit breaker', () => {
  it('opens after five failures, delays without attempts, probes and closes', async () => {
    const made = await template('webhook');
    const { destination } = (await test.database.row<{ destination: string }>(sql`
      SELECT destination FROM notification_templates WHERE id = ${made.id}`))!;
    const state = () =>
      test.database.row<{ failures: number; trips: number; wait: number }>(sql`
        SELECT failures, trips, extract(epoch FROM open_until - now())::float8 AS wait
        FROM outbound_breakers WHERE destination = ${destination}`);
    http.reply(...Array.from({ length: 5 }, () => busy(500)));
    for (let i = 0; i < 5; i++) await attempted(await send(made));
    const open = await eventually(async () => {
      const found = await state();
      expect(found).toMatchObject({ failures: 5, trips: 1 });
      return found!;
    });
    expect(open.wait).toBeGreaterThan(50);
    expect(open.wait).toBeLessThanOrEqual(60);

    const held = await fire(test, made);
    await eventually(async () => expect((await rowOf(held)).wait).toBeGreaterThan(50));
    expect(await rowOf(held)).toMatchObject({ status: 'failed', error: PAUSED, attempts: 0 });
    const { body } = await test.as.orgAdmin.get(`notifications/${held}/`).expect(200);
    expect(body).toMatchObject({ status: 'failed', next_attempt_at: expect.any(String) });

    const expire = () =>
      test.database.execute(sql`
        UPDATE outbound_breakers SET open_until = now() WHERE destination = ${destination}`);
    await expire();
    http.reply(busy(500));
    await passTime(held);
    await attempted(held);
    const reopened = await eventually(async () => {
      const found = await state();
      expect(found).toMatchObject({ trips: 2 });
      return found!;
    });
    expect(reopened.wait).toBeGreaterThan(110);

    await expire();
    await passTime(held);
    expect(await attempted(held, 2)).toMatchObject({ status: 'successful' });
    await eventually(async () => expect(await state()).toBeUndefined());
  });

  it('does not prevent the deletion of a template with waiting notifications', async () => {
    const made = await template('webhook');
    await openBreaker(made);
    const id = await fire(test, made);
    await eventually(async () => expect((await rowOf(id)).error).toBe(PAUSED));
    await test.as.orgAdmin.delete(made.url).expect(204);
  });

  it('fails notifications that waited for hours', async () => {
    const made = await template('webhook');
    await openBreaker(made);
    const id = await fire(test, made);
    await eventually(async () => expect((await rowOf(id)).wait).toBeGreaterThan(50));
    await test.database.execute(sql`
      UPDATE notifications SET created = now() - interval '9 hours' WHERE id = ${id}`);
    await passTime(id);
    expect(await rowOf(id)).toMatchObject({ status: 'failed', error: PAUSED, wait: null });
  });
});

it('a slow destination does not delay others', async () => {
  const slowSink = await HttpSink.start();
  let open: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (open = resolve));
  slowSink.reply(...Array.from({ length: 25 }, () => ({ until })));
  const slow = await template('webhook', { http: slowSink.port });
  const fast = await template('webhook');
  const slowIds: number[] = [];
  for (let i = 0; i < 25; i++) slowIds.push(await send(slow));
  await eventually(() => expect(slowSink.requests).toHaveLength(10));
  expect(await attempted(await send(fast))).toMatchObject({ status: 'successful' });
  expect(slowSink.requests).toHaveLength(10);
  open();
  for (const id of slowIds) expect(await attempted(id)).toMatchObject({ status: 'successful' });
  await slowSink.close();
});
