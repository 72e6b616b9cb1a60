import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import fc from 'fast-check';
import supertest from 'supertest';

import { generateWebhookKey } from '../../src/common/crypto/random-key.js';
import { sql } from '../../src/database/sql.js';
import { WEBHOOK_SERVICE_NAMES, type WebhookServiceName } from '../../src/code-hosts/services.js';
import { sign } from '../../src/code-hosts/signature.js';
import { boot, type TestApp } from '../support/boot.js';
import { deliveryHeaders, webhookSample } from '../support/payloads/webhooks.js';
import { newHook, type Hook } from '../support/webhooks.js';

const BODY_LIMIT = 64_000;
const RATE = 25;
const PUSH = webhookSample('service_a', 'push');

let test: TestApp;
let hooks: Hook[];

beforeAll(async () => {
  test = await boot({ settings: { WEBHOOK_BODY_LIMIT: String(BODY_LIMIT) } });
  hooks = [];
  for (const service of WEBHOOK_SERVICE_NAMES) hooks.push(await newHook(test, service));
});
afterAll(() => test.close());

const hookOf = (service: WebhookServiceName): Hook =>
  hooks.find((hook) => hook.service === service)!;

describe('any input', () => {
  // Bytes that a client can put into a header.
  const headerByte = fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code));
  const headerValue = fc.oneof(
    fc.string({ unit: headerByte }),
    fc.constantFrom('push', 'ping', 'diagnostics:ping', 'sha1=', 'sha256=', '', 'null', '0'),
  );
  const headerName = fc.constantFrom(
    ...['Event', 'Delivery', 'Request-Id', 'Signature', 'Signature-256', 'Token'].flatMap((word) =>
      ['A', 'B', 'C'].map((letter) => `X-Service-${letter}-${word}`),
    ),
    'Idempotency-Key',
    'webhook-id',
    'X-Hub-Signature',
    'Content-Type',
    'Authorization',
    'Cookie',
    'Accept',
  );
  const headers = fc.dictionary(headerName, headerValue, { maxKeys: 6 });
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(JSON.stringify({ ref: text }))),
    fc
      .constantFrom('', '{}', '[]', 'null', '"x"', '{"a":1e999}', '{"a":"\\u0000"}', '\u0000')
      .map((text) => Buffer.from(text)),
  );
  const service = fc.constantFrom(...WEBHOOK_SERVICE_NAMES);

  it('without a signature gets 200 or is refused, without a server error', async () => {
    const before = await Promise.all(hooks.map((hook) => hook.jobs()));
    await fc.assert(
      fc.asyncProperty(service, headers, body, async (name, sent, bytes) => {
        const { status } = await hookOf(name).post(bytes, sent);
        expect([200, 400, 403, 406, 415]).toContain(status);
      }),
      { numRuns: 150 },
    );
    expect(await Promise.all(hooks.map((hook) => hook.jobs()))).toEqual(before);
  }, 60_000);

  it('with a signature is queued, ignored or gets 400, without a server error', async () => {
    const event = fc.constantFrom('push', 'Push Hook', 'repo:refs_changed', 'release', 'x', 'ping');
    await fc.assert(
      fc.asyncProperty(service, event, headers, body, async (name, type, sent, bytes) => {
        const hook = hookOf(name);
        const delivery = randomUUID();
        const good = deliveryHeaders(name, type, bytes, hook.key, { delivery });
        const extra = Object.fromEntries(
          Object.entries(sent).filter(([key]) => !/signature|token|accept|event/i.test(key)),
        );
        const { status } = await hook.post(bytes, { ...good, ...extra });
        expect([200, 202, 400]).toContain(status);
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  it('in a payload cannot access the prototype', async () => {
    const hook = hookOf('service_a');
    const raw = '{"__proto__": {"after": "x"}, "constructor": {"prototype": {"y": 1}}}';
    const headers = deliveryHeaders('service_a', 'push', Buffer.from(raw), hook.key);
    const { body: answer } = await hook.post(Buffer.from(raw), headers).expect(202);
    const row = await test.database.row<{ ref: unknown }>(
      sql`SELECT ref FROM webhook_deliveries WHERE id = ${answer.delivery as number}`,
    );
    expect(row?.ref).toBeNull();
    expect(({} as Record<string, unknown>).y).toBeUndefined();
  });

  it('with too deep nesting gets 400', async () => {
    const hook = hookOf('service_a');
    const raw = Buffer.from('{"a":'.repeat(70) + '1' + '}'.repeat(70));
    const headers = deliveryHeaders('service_a', 'push', raw, hook.key);
    await hook.post(raw, headers).expect(400);
  });
});

describe('bodies', () => {
  const padded = (bytes: number): Buffer => {
    const empty = Buffer.byteLength(JSON.stringify({ pad: '' }));
    return Buffer.from(JSON.stringify({ pad: 'x'.repeat(bytes - empty) }));
  };

  it('may be as large as the limit, and not larger', async () => {
    const hook = hookOf('service_a');
    const fits = padded(BODY_LIMIT);
    await hook.post(fits, deliveryHeaders('service_a', 'push', fits, hook.key)).expect(202);
    const over = padded(BODY_LIMIT + 1);
    const headers = deliveryHeaders('service_a', 'push', over, hook.key);
    const answer = await hook.post(over, headers).expect(413);
    expect(answer.body).toEqual({ detail: expect.stringContaining(String(BODY_LIMIT)) });
  });

  it('are not decompressed, and signed ones get an explanation', async () => {
    const hook = hookOf('service_a');
    const packed = gzipSync(Buffer.alloc(1_000_000, 'x'));
    const encoded = { 'Content-Encoding': 'gzip' };
    const good = deliveryHeaders('service_a', 'push', packed, hook.key);
    const { body } = await hook.post(packed, { ...good, ...encoded }).expect(400);
    expect(body).toEqual({ detail: 'The body must not be compressed.' });
    const bad = deliveryHeaders('service_a', 'push', packed, generateWebhookKey());
    await hook.post(packed, { ...bad, ...encoded }).expect(403);
  });

  it('may be empty', async () => {
    const hook = hookOf('service_b');
    const headers = deliveryHeaders('service_b', 'Push Hook', Buffer.alloc(0), hook.key);
    const path = `${test.url}${hook.path()}`;
    const answer = await fetch(path, { method: 'POST', headers });
    expect(answer.status).toBe(202);
  });
});

describe('a signature', () => {
  it('is accepted once: a repeated header is refused', async () => {
    const hook = hookOf('service_a');
    const raw = Buffer.from(JSON.stringify(PUSH.payload));
    const good = sign('sha256', raw, hook.key);
    const headers = { 'X-Service-A-Event': 'push', 'Content-Type': 'application/json' };
    const twice = supertest(test.url).post(hook.path()).set(headers);
    twice.set('X-Service-A-Signature-256', [good, good] as never);
    await twice
      .serialize((one: unknown) => one as string)
      .send(raw as never)
      .expect(403);
  });

  it('is not replaced by a session of a browser', async () => {
    const hook = hookOf('service_a');
    const path = hook.path().replace('/api/v2/', '');
    await test.as.superuser.post(path, PUSH.payload).expect(403);
  });

  it('does not reveal the key in responses, records or the activity stream', async () => {
    const { key, template } = hookOf('service_a');
    const pages = [
      `job_templates/${template.id}/`,
      `job_templates/${template.id}/webhook_deliveries/`,
      'webhook_deliveries/?page_size=200',
      'activity_stream/?page_size=200',
      'jobs/?page_size=200',
    ];
    for (const page of pages) {
      const { text } = await test.as.superuser.get(page).expect(200);
      expect(text).not.toContain(key);
    }
  });
});

describe('limits', () => {
  let small: TestApp;
  let hook: Hook;

  beforeAll(async () => {
    small = await boot({
      settings: { RECEIVER_RATE: String(RATE), WEBHOOK_HEADER_ALIASES: 'false' },
    });
    hook = await newHook(small, 'service_a');
  });
  afterAll(() => small.close());

  it('permit to disable the header names of the real services', async () => {
    const other = await newHook(small, 'service_a');
    const raw = Buffer.from(JSON.stringify(PUSH.payload));
    const headers = {
      'Content-Type': 'application/json',
      'X-GitHub-Event': 'push',
      'X-Hub-Signature-256': sign('sha256', raw, other.key),
    };
    await other.post(raw, headers).expect(403);
  });

  it('apply to all deliveries of a minute, which are counted and reported', async () => {
    const first = await hook.send(PUSH);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': String(RATE),
      'x-ratelimit-remaining': String(RATE - 1),
    });
    expect(Number(first.headers['x-ratelimit-reset'])).toBeGreaterThan(Date.now() / 1000 - 1);
    const statuses: number[] = [];
    // Two windows at most: a new minute may begin during the loop.
    for (let sent = 0; sent < 2 * RATE + 1; sent += 1) {
      const answer = await hook.post(Buffer.from('{}'), { 'X-Service-A-Event': 'push' });
      statuses.push(answer.status);
      if (answer.status === 429) {
        expect(Object.keys(answer.body as object)).toEqual(['detail']);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
        break;
      }
    }
    expect(statuses.at(-1)).toBe(429);
  });

  it('do not reveal which templates exist', async () => {
    const none = `/api/v2/job_templates/${hook.template.id + 5000}/service_a/`;
    const answer = await hook.post(Buffer.from('{}'), {}, none).expect(403);
    expect(answer.headers['x-ratelimit-remaining']).toBe(String(RATE - 1));
  });
});
