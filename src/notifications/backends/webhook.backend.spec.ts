import { createHmac } from 'node:crypto';
import { HttpSink } from '../../../test/support/fakes/http-sink.js';
import {
  TEST_NOW,
  createTestClient,
  makeMessage,
  makeSendContext,
} from '../../../test/support/fakes/send-context.js';
import { OutboundClient } from '../../outbound/outbound-client.js';
import type { Configuration, SendError } from './backend.js';
import { signatureHeaders, webhookBackend } from './webhook.backend.js';

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

const send = (config: Configuration, message = makeMessage()) =>
  webhookBackend.send(config, message, makeSendContext(http, sink));

describe('webhook', () => {
  const config = (extra: Configuration = {}): Configuration => ({
    url: `${sink.url}/in/secretpath`,
    http_method: 'POST',
    headers: { 'X-Own': '1' },
    disable_ssl_verification: false,
    username: '',
    password: '',
    ...extra,
  });

  it('sends the rendered bytes with the custom headers', async () => {
    const message = makeMessage({ text: '{ "id":  42 }' });
    await expect(send(config(), message)).resolves.toMatchObject({ sent: 1 });
    expect(sink.last).toMatchObject({ method: 'POST', body: '{ "id":  42 }' });
    expect(sink.last.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'automation-controller 1.0',
      'x-own': '1',
      'webhook-id': 'msg-0001',
    });
    expect(sink.last.headers).not.toHaveProperty('webhook-signature');
  });

  it('uses PUT, Basic authentication and overriding headers', async () => {
    const headers = { 'Content-Type': 'application/vnd.own+json', 'user-agent': 'own' };
    await send(config({ http_method: 'put', username: 'u', password: 'p', headers }));
    expect(sink.last.method).toBe('PUT');
    expect(sink.last.headers).toMatchObject({
      'content-type': 'application/vnd.own+json',
      'user-agent': 'own',
      authorization: `Basic ${Buffer.from('u:p').toString('base64')}`,
    });
  });

  it('signs by Standard Webhooks', async () => {
    const key = Buffer.from('a very secret key');
    const secret = `whsec_${key.toString('base64')}`;
    await send(config({ signing_secret: secret, headers: { 'webhook-id': 'forged' } }));
    const timestamp = String(TEST_NOW.getTime() / 1000);
    const digest = createHmac('sha256', key).update(`msg-0001.${timestamp}.${sink.last.body}`);
    expect(sink.last.headers).toMatchObject({
      'webhook-id': 'msg-0001',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${digest.digest('base64')}`,
    });
  });

  it('signs the example of the specification as published', () => {
    const body = '{"test": 2432232314}';
    const sentAt = new Date(1_614_265_330_000);
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
    expect(signatureHeaders('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', body, id, sentAt)).toEqual({
      'webhook-id': id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it.each(['[1]', '42', '"text"', 'null'])('sends the JSON value %s unchanged', async (text) => {
    await send(config(), makeMessage({ text }));
    expect(sink.last.body).toBe(text);
  });

  it('does not send invalid JSON', async () => {
    await expect(send(config(), makeMessage({ text: 'hello' }))).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining('not valid JSON'),
    });
    expect(sink.requests).toHaveLength(0);
  });

  it.each([301, 307, 308])('follows %i with method and body', async (status) => {
    sink.reply({ status, headers: { location: '/next' } });
    await expect(send(config())).resolves.toMatchObject({ sent: 1 });
    expect(sink.last).toMatchObject({ method: 'POST', path: '/next', body: '{"id": 42}' });
  });

  it.each([302, 303])('treats %i as a failure', async (status) => {
    sink.reply({ status, headers: { location: '/next' } });
    await expect(send(config())).rejects.toMatchObject({ retryable: false });
    expect(sink.requests).toHaveLength(1);
  });

  it('stops after five redirects with the error text of the contract', async () => {
    sink.reply(...Array.from({ length: 9 }, () => ({ status: 301, headers: { location: '/' } })));
    await expect(send(config())).rejects.toMatchObject({
      message: `Webhook notification max number of retries [5] exceeded. Failed to send webhook notification to ${sink.url}/in/***`,
      retryable: false,
    });
  });

  it.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
  ])('reports %i, to be retried: %p', async (status, retryable) => {
    sink.reply({ status, body: 'why' });
    await expect(send(config())).rejects.toMatchObject({
      message: `Error sending webhook notification: ${status}`,
      detail: 'why',
      statusCode: status,
      retryable,
    });
  });

  it.each([
    { headers: { Authorization: 'canary-7781' }, password: 'canary-7781', username: 'u' },
    { headers: { Authorization: 'Bearer canary-7781' } },
  ])('never includes a secret in an error: %j', async (fields) => {
    const secret = 'canary-7781';
    sink.reply({ status: 500, body: `got ${secret} at ${sink.url}/in/${secret}` });
    const error = await send(config(fields)).catch((thrown: SendError) => thrown);
    expect(error).toMatchObject({ statusCode: 500, detail: expect.stringContaining('***') });
    expect(JSON.stringify(error) + String(error)).not.toContain(secret);
  });

  it('refuses private addresses by default', async () => {
    const strict = new OutboundClient({ allow: [], userAgent: 'x' });
    const context = makeSendContext(strict, sink);
    await expect(webhookBackend.send(config(), makeMessage(), context)).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining('OUTBOUND_ALLOW'),
    });
    await strict.onApplicationShutdown();
  });

  it('retries after a broken connection', async () => {
    sink.reply({ fault: 'reset' });
    await expect(send(config())).rejects.toMatchObject({ retryable: true });
  });
});
