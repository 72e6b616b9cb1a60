/**
 * Every kind of notification is tested against every behavior of its service, from the API through a worker
 * to the bytes on the wire and back to the record: accepting, slow, failing, limiting, resetting, hanging,
 * redirecting to a private address. The specs of the backends cover further refusals and texts of each kind.
 *
 * Budget: 35 s, because it waits for the timeouts of channels that hang.
 */
import { VERSION } from '../../src/config/version.js';
import type { NotificationType } from '../../src/notifications/backends/notification-type.js';
import { eventually } from '../support/eventually.js';
import type { ScriptedReply } from '../support/fakes/http-sink.js';
import { canary } from '../support/fakes/notification-configurations.js';
import { isAuthentic } from '../support/standard-webhooks.js';
import { gate, NotificationMatrix, subjectOf, textOf, type Sent } from './notification-matrix.js';

const PRIVATE = 'http://169.254.169.254/latest/meta-data/';

let matrix: NotificationMatrix;
beforeAll(async () => {
  matrix = await NotificationMatrix.start();
});
afterAll(() => matrix.stop());
afterEach(() => matrix.clean());

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const JSON_TYPE = 'application/json';

type HttpKind = Exclude<NotificationType, 'email' | 'irc'>;

interface HttpCase {
  /** Start of the contract's error text. */
  failure: string;
  change?: object;
  answer?: ScriptedReply;
  /** True if redirects are followed at all. Services with a fixed address never redirect. */
  redirects: boolean;
  wire: (sent: Sent) => { path: string; body: string; headers: object };
}

const HTTP_KINDS: { [kind in HttpKind]: HttpCase } = {
  chat_a: {
    failure: 'Error sending notification chat_a',
    change: { channels: ['#ops'] },
    answer: { body: { ok: true } },
    redirects: false,
    wire: ({ template: id }) => ({
      path: '/api/chat.postMessage',
      body: `{"channel":"ops","as_user":true,"text":"${subjectOf(id)}"}`,
      headers: {
        authorization: `Bearer ${canary('token')}`,
        'content-type': 'application/json;charset=utf-8',
      },
    }),
  },
  sms_a: {
    failure: 'Error sending notification sms_a',
    answer: { status: 201 },
    redirects: false,
    wire: ({ template: id }) => ({
      path: '/2010-04-01/Accounts/AC1/Messages.json',
      body: `To=%2B200&From=%2B100&Body=${encodeURIComponent(subjectOf(id)).replaceAll('%20', '+')}`,
      headers: {
        authorization: basic('AC1', canary('account_token')),
        'content-type': 'application/x-www-form-urlencoded',
      },
    }),
  },
  incident_a: {
    failure: 'Error sending notification incident_a',
    redirects: false,
    wire: ({ template: id, messageId }) => ({
      path: '/generic/2010-04-15/create_event.json',
      body: JSON.stringify({
        service_key: canary('service_key'),
        description: subjectOf(id),
        details: textOf(id),
        event_type: 'trigger',
        incident_key: messageId,
        client: 'controller',
        client_url: null,
      }),
      headers: { 'content-type': JSON_TYPE },
    }),
  },
  webhook: {
    failure: 'Error sending webhook notification',
    redirects: true,
    wire: ({ template: id, messageId }) => ({
      path: `/hooks/${canary('url')}`,
      body: `{"body":"${textOf(id)}"}`,
      headers: {
        authorization: basic('user', canary('password')),
        'content-type': JSON_TYPE,
        'x-api-key': canary('headers'),
        'x-plain': 'plain',
        'webhook-id': messageId,
        'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
        'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      },
    }),
  },
  chat_b: {
    failure: 'Error sending notification chat_b',
    redirects: true,
    wire: ({ template: id }) => ({
      path: `/hooks/${canary('url')}`,
      body: `{"text":"${subjectOf(id)}","channel":"town-square"}`,
      headers: { 'content-type': JSON_TYPE },
    }),
  },
  chat_c: {
    failure: 'Error sending notification chat_c',
    redirects: true,
    wire: ({ template: id }) => ({
      path: `/hooks/${canary('url')}`,
      body: `{"text":"${subjectOf(id)}"}`,
      headers: { 'content-type': JSON_TYPE },
    }),
  },
  dashboard_a: {
    failure: 'Error sending notification dashboard_a',
    redirects: true,
    wire: ({ template: id }) => ({
      path: `/boards/${canary('url')}/api/annotations`,
      body: `{"text":"${subjectOf(id)}","isRegion":true}`,
      headers: { authorization: `Bearer ${canary('key')}`, 'content-type': JSON_TYPE },
    }),
  },
};

describe.each(Object.keys(HTTP_KINDS) as HttpKind[])('%s', (kind) => {
  const { failure, change, answer = {}, redirects, wire } = HTTP_KINDS[kind];
  const sendAgainst = async (
    given: ScriptedReply,
    event: 'test' | 'error' = 'test',
  ): Promise<Sent> => {
    const made = await matrix.template(kind, change);
    matrix.http.reply(given);
    return matrix.send(made, event);
  };

  it('accepts: the request and the record are as expected', async () => {
    const sent = await sendAgainst(answer);
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'successful',
      error: '',
      notifications_sent: 1,
      wait: null,
      attempt: { successful: true },
    });
    expect(matrix.http.requests).toHaveLength(1);
    const { path, body, headers } = wire(sent);
    expect(matrix.http.last).toMatchObject({ method: 'POST', path, body });
    expect(matrix.http.last.headers).toMatchObject({
      ...headers,
      'user-agent': `automation-controller ${VERSION}`,
      'content-length': String(Buffer.byteLength(body)),
    });
  });

  it('responds slowly: only its notification waits', async () => {
    const { open, passed } = gate();
    const sent = await sendAgainst({ ...answer, until: passed });
    await matrix.expectOthersServed(sent);
    open();
    expect(await matrix.attempted(sent)).toMatchObject({ status: 'successful', error: '' });
  });

  it('responds with 500: failed, and retried within seconds', async () => {
    const sent = await sendAgainst({ status: 500, body: 'broken' }, 'error');
    const row = await matrix.attempted(sent);
    expect(row).toMatchObject({
      status: 'failed',
      error: `${failure}: 500`,
      notifications_sent: 0,
      attempt: { successful: false, status_code: 500, detail: 'broken' },
    });
    expect(row.wait).toBeGreaterThanOrEqual(0);
    expect(row.wait).toBeLessThanOrEqual(5);
  });

  it('responds with 500 to a test: failed, and not retried', async () => {
    const sent = await sendAgainst({ status: 500, body: 'broken' });
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'failed',
      error: `${failure}: 500`,
      wait: null,
      attempt: { successful: false, status_code: 500, detail: 'broken' },
    });
  });

  it('responds with 429: failed, and retried after Retry-After', async () => {
    const sent = await sendAgainst({ status: 429, headers: { 'retry-after': '100' } }, 'error');
    const row = await matrix.attempted(sent);
    expect(row).toMatchObject({
      status: 'failed',
      error: `${failure}: 429`,
      attempt: { successful: false, status_code: 429 },
    });
    expect(row.wait).toBeCloseTo(100, 1);
  });

  it('resets the connection: failed, with an explanation', async () => {
    const sent = await sendAgainst({ fault: 'reset' }, 'error');
    const row = await matrix.attempted(sent);
    expect(row).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(
        `^${failure}: 127\\.0\\.0\\.1:${matrix.http.port}: the connection was closed before the response was complete \\(\\w+\\)\\.$`,
      ),
      attempt: { successful: false, status_code: null },
    });
    expect(row.wait).toBeLessThanOrEqual(5);
  });

  it('redirects to a private address: failed permanently, and nothing is sent there', async () => {
    const sent = await sendAgainst({ status: 307, headers: { location: PRIVATE } });
    expect(await matrix.attempted(sent)).toMatchObject({
      status: 'failed',
      error: redirects
        ? `${failure}: The redirect to another host was not followed.`
        : `${failure}: 307`,
      wait: null,
      attempt: { successful: false, status_code: redirects ? null : 307 },
    });
    expect(matrix.http.requests).toHaveLength(1);
  });
});

it('all HTTP services hang: each attempt times out, and others do not wait', async () => {
  const { open, passed } = gate();
  const kinds = Object.keys(HTTP_KINDS) as HttpKind[];
  const hung: Sent[] = [];
  for (const kind of kinds) {
    const made = await matrix.template(kind, HTTP_KINDS[kind].change);
    matrix.http.reply({ until: passed });
    hung.push(await matrix.send(made, 'error'));
    // Sequential, because the sink returns its prepared responses in order.
    await eventually(() => expect(matrix.http.requests).toHaveLength(hung.length));
  }
  await matrix.expectOthersServed(hung.at(-1)!);
  for (const [index, sent] of hung.entries()) {
    const row = await matrix.attempted(sent);
    expect(row).toMatchObject({
      status: 'failed',
      error: `${HTTP_KINDS[kinds[index]!].failure}: 127.0.0.1:${matrix.http.port}: no response in time (UND_ERR_HEADERS_TIMEOUT).`,
      attempt: { successful: false, status_code: null },
    });
    expect(row.wait).toBeLessThanOrEqual(5);
  }
  open();
});

it('every attempt of a webhook has its own valid signature', async () => {
  const secret = `whsec_${Buffer.from('twenty-four bytes of key').toString('base64')}`;
  const made = await matrix.template('webhook', { signing_secret: secret });
  matrix.http.reply({ status: 503 });
  const sent = await matrix.send(made, 'error');
  await matrix.attempted(sent);
  await eventually(() => expect(matrix.http.requests).toHaveLength(2), 20_000);
  for (const { headers, body } of matrix.http.requests) {
    expect(headers['webhook-id']).toBe(sent.messageId);
    expect(await isAuthentic(secret, headers, body)).toBe(true);
    expect(await isAuthentic(secret, headers, body.replace('deploy', 'forged'))).toBe(false);
    expect(await isAuthentic(secret, { ...headers, 'webhook-id': 'other' }, body)).toBe(false);
    const other = `whsec_${Buffer.from('another twenty-four byte').toString('base64')}`;
    expect(await isAuthentic(other, headers, body)).toBe(false);
  }
});
