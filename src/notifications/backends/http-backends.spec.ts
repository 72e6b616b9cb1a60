import { HttpSink } from '../../../test/support/fakes/http-sink.js';
import {
  createTestClient,
  makeMessage,
  makeSendContext,
} from '../../../test/support/fakes/send-context.js';
import type { OutboundClient } from '../../outbound/outbound-client.js';
import type { Configuration, SendContext } from './backend.js';
import type { NotificationType } from './notification-type.js';
import { backendFor } from './registry.js';

let sink: HttpSink;
let http: OutboundClient;
beforeEach(async () => {
  sink = await HttpSink.start();
  http = createTestClient();
});
afterEach(async () => {
  await http.onApplicationShutdown();
  await sink.close();
});

const send = (
  type: NotificationType,
  config: Configuration,
  message = makeMessage(),
  context: Partial<SendContext> = {},
) => backendFor(type).send(config, message, makeSendContext(http, sink, context));

const json = (): unknown => JSON.parse(sink.last.body);
const { subject } = makeMessage();

describe('chat_a', () => {
  const config = { token: 'xoxb-secret', channels: ['#ops', 'C1,123.45'] };

  it('posts to every channel, and in threads if configured', async () => {
    sink.reply({ body: { ok: true } }, { body: { ok: true } });
    await expect(send('chat_a', config)).resolves.toMatchObject({ sent: 2 });
    expect(sink.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { channel: 'ops', as_user: true, text: subject },
      { channel: 'C1', thread_ts: '123.45', as_user: true, text: subject },
    ]);
    expect(sink.last).toMatchObject({ method: 'POST', path: '/api/chat.postMessage' });
    expect(sink.last.headers).toMatchObject({
      authorization: 'Bearer xoxb-secret',
      'content-type': 'application/json;charset=utf-8',
      'user-agent': 'automation-controller 1.0',
    });
  });

  it.each([
    ['#abc', true],
    ['#A1b2C3', true],
    ['red', false],
    ['#abcd', false],
    ['', false],
  ])('uses the color %p: %p', async (hex_color, used) => {
    sink.reply({ body: { ok: true } });
    await send('chat_a', { ...config, channels: ['x'], hex_color });
    const expected = used
      ? { channel: 'x', as_user: true, attachments: [{ color: hex_color, text: subject }] }
      : { channel: 'x', as_user: true, text: subject };
    expect(json()).toEqual(expected);
  });

  it.each([
    ['channel_not_found', false],
    ['invalid_auth', false],
    ['ratelimited', true],
  ])('treats ok:false as a failure (%s)', async (error, retryable) => {
    sink.reply({ body: { ok: false, error } });
    await expect(send('chat_a', { ...config, channels: ['x'] })).rejects.toMatchObject({
      name: 'SendError',
      retryable,
      message: `Error sending notification chat_a: ${error}`,
    });
  });

  it('accepts a response that quotes a long message and is therefore not read to its end', async () => {
    sink.reply({
      body: { ok: true, message: { text: 'x'.repeat(40_000), blocks: 'x'.repeat(40_000) } },
    });
    await expect(send('chat_a', { ...config, channels: ['x'] })).resolves.toMatchObject({
      sent: 1,
    });
  });

  it('quotes a refusal without secrets and without characters that cannot be stored', async () => {
    sink.reply({ body: { ok: false, error: 'bad\0 \ud800 xoxb-secret' } });
    await expect(send('chat_a', { ...config, channels: ['x'] })).rejects.toMatchObject({
      message: 'Error sending notification chat_a: bad \ufffd ***',
    });
  });

  it('posts to the other channels if one is refused, and reports the refused one', async () => {
    sink.reply({ body: { ok: false, error: 'not_in_channel' } }, { body: { ok: true } });
    await expect(send('chat_a', { ...config, channels: ['a', 'b'] })).rejects.toMatchObject({
      retryable: false,
      delivered: ['b'],
      message: expect.stringContaining('Sent to 1 of 2'),
    });
  });

  it('does not repeat channels that an earlier attempt reached', async () => {
    sink.reply({ body: { ok: true } });
    const result = await send('chat_a', { ...config, channels: ['a', 'b'] }, makeMessage(), {
      delivered: ['a'],
    });
    expect(result.sent).toBe(2);
    expect(sink.requests).toHaveLength(1);
    expect(json()).toMatchObject({ channel: 'b' });
  });

  it('waits as long as Retry-After of a 429 requires', async () => {
    sink.reply({ status: 429, headers: { 'retry-after': '30' } });
    await expect(send('chat_a', { ...config, channels: ['a'] })).rejects.toMatchObject({
      retryable: true,
      retryAfterMs: 30_000,
      statusCode: 429,
    });
  });

  it('truncates a long text', async () => {
    sink.reply({ body: { ok: true } });
    await send(
      'chat_a',
      { ...config, channels: ['a'] },
      makeMessage({ subject: '🚀'.repeat(30_000) }),
    );
    const { text } = json() as { text: string };
    expect(text.length).toBeLessThanOrEqual(40_000);
    expect(text).toMatch(/🚀…$/u);
  });
});

describe('chat_b and chat_c', () => {
  it('post the text and the configured fields to the hook', async () => {
    const config = { url: `${sink.url}/hooks/abc`, username: 'bot', channel: 'ops', icon_url: '' };
    await expect(send('chat_b', config)).resolves.toMatchObject({ sent: 1, statusCode: 200 });
    expect(sink.last.path).toBe('/hooks/abc');
    expect(json()).toEqual({ text: subject, username: 'bot', channel: 'ops' });
    await send('chat_c', { ...config, icon_url: 'https://i.example/x.png' });
    expect(json()).toEqual({ text: subject, username: 'bot', icon_url: 'https://i.example/x.png' });
    expect(sink.last.headers['content-type']).toBe('application/json');
  });

  it.each(['chat_b', 'chat_c'] as const)(
    '%s: reports the status without the URL of the hook',
    async (type) => {
      sink.reply({ status: 404, body: `no hook at ${sink.url}/hooks/secretpath` });
      await expect(send(type, { url: `${sink.url}/hooks/secretpath` })).rejects.toMatchObject({
        message: `Error sending notification ${type}: 404`,
        detail: expect.stringMatching(/^no hook at .+\/hooks\/\*\*\*$/),
        statusCode: 404,
        retryable: false,
      });
    },
  );

  it('verify certificates unless the configuration disables it', async () => {
    const tls = await HttpSink.start({ tls: true });
    await expect(send('chat_b', { url: tls.url })).rejects.toMatchObject({ retryable: false });
    const config = { url: tls.url, no_verify_ssl: true };
    await expect(send('chat_b', config)).resolves.toMatchObject({ sent: 1 });
    await tls.close();
  });
});

describe('sms_a', () => {
  const config = {
    account_sid: 'AC1',
    account_token: 'tok-secret',
    from_number: '+100',
    to_numbers: ['+200', '+300'],
  };

  it('posts a form for every number', async () => {
    sink.reply(201, 201);
    await expect(send('sms_a', config)).resolves.toMatchObject({ sent: 2 });
    expect(sink.last.path).toBe('/2010-04-01/Accounts/AC1/Messages.json');
    expect(sink.last.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('AC1:tok-secret').toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(Object.fromEntries(new URLSearchParams(sink.last.body))).toEqual({
      To: '+300',
      From: '+100',
      Body: subject,
    });
  });

  it('reports the reason of a refusal', async () => {
    sink.reply({ status: 400, body: { message: 'not a number' } }, 201);
    await expect(send('sms_a', config)).rejects.toMatchObject({
      message: expect.stringContaining('Error sending notification sms_a: 400'),
      detail: expect.stringContaining('not a number'),
      delivered: ['+300'],
    });
  });
});

describe('incident_a', () => {
  const config = { subdomain: 's', token: 't-secret', service_key: 'k-secret', client_name: 'c' };

  it('triggers with the body as details and a stable key', async () => {
    await expect(send('incident_a', config)).resolves.toMatchObject({ sent: 1 });
    expect(sink.last.path).toBe('/generic/2010-04-15/create_event.json');
    expect(json()).toEqual({
      service_key: 'k-secret',
      event_type: 'trigger',
      description: subject,
      details: { id: 42 },
      incident_key: 'msg-0001',
      client: 'c',
      client_url: null,
    });
  });

  describe('with resolve_on_success', () => {
    const resolving = { ...config, resolve_on_success: true };
    const of = (event: string, runTemplateId: number | null = 7) =>
      send('incident_a', resolving, makeMessage(), { event, runTemplateId });

    it('opens one incident for all failures of a template', async () => {
      await of('error');
      expect(json()).toMatchObject({
        event_type: 'trigger',
        incident_key: 'automation-controller-7',
        client: 'c',
      });
    });

    it('resolves the incident after a success', async () => {
      await of('success');
      expect(json()).toEqual({
        service_key: 'k-secret',
        event_type: 'resolve',
        incident_key: 'automation-controller-7',
        description: subject,
        details: { id: 42 },
      });
    });

    it.each([
      ['started', 7],
      ['test', null],
      ['success', null],
      ['error', null],
    ] as const)('opens a separate incident for %s of template %p', async (event, template) => {
      await of(event, template);
      expect(json()).toMatchObject({ event_type: 'trigger', incident_key: 'msg-0001' });
    });
  });

  it('opens an incident for a success without the option', async () => {
    await send('incident_a', config, makeMessage(), { event: 'success', runTemplateId: 7 });
    expect(json()).toMatchObject({ event_type: 'trigger', incident_key: 'msg-0001' });
  });

  it('truncates the description, sends text as details and retries a 403', async () => {
    sink.reply(403);
    const message = makeMessage({ subject: 'x'.repeat(2000), text: 'plain' });
    await expect(send('incident_a', config, message)).rejects.toMatchObject({ retryable: true });
    expect(json()).toMatchObject({ details: 'plain' });
    expect((json() as { description: string }).description).toHaveLength(1024);
  });
});

describe('dashboard_a', () => {
  const config = { key: 'k-secret', dashboardId: '', panelId: 7, annotation_tags: ['ansible'] };
  const started = '2019-08-07T21:46:38.362630+00:00';

  it('annotates the time of the run', async () => {
    const body = { started, finished: null };
    await send('dashboard_a', { ...config, url: `${sink.url}/` }, makeMessage({ body }));
    expect(sink.last.path).toBe('/api/annotations');
    expect(sink.last.headers.authorization).toBe('Bearer k-secret');
    const time = Date.parse(started);
    expect(json()).toEqual({
      text: subject,
      isRegion: true,
      time,
      timeEnd: time,
      panelId: 7,
      tags: ['ansible'],
    });
  });

  it('omits the times for other messages', async () => {
    await send('dashboard_a', { ...config, url: sink.url, isRegion: false, dashboardId: '12' });
    expect(json()).toMatchObject({ isRegion: false, dashboardId: 12 });
    expect(json()).not.toHaveProperty('time');
  });

  it('sends a UID as dashboardUID', async () => {
    await send('dashboard_a', { ...config, url: sink.url, dashboardId: 'cIBgcSjkk' });
    expect(json()).toMatchObject({ dashboardUID: 'cIBgcSjkk' });
    expect(json()).not.toHaveProperty('dashboardId');
  });
});
