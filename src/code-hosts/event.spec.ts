import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { deliveryHeaders, WEBHOOK_SAMPLES } from '../../test/support/payloads/webhooks.js';
import { parseEvent, type WebhookEvent } from './event.js';
import { WEBHOOK_SERVICE_NAMES, webhookService, type WebhookServiceName } from './services.js';
import { isVerified } from './signature.js';

/** Sizes of the events of a service in practice, in bytes. */
const REAL_SIZES: Record<WebhookServiceName, readonly [least: number, most: number]> = {
  service_a: [5_000, 40_000],
  service_b: [4_000, 20_000],
  service_c_dc: [1_000, 10_000],
};

const parse = (
  service: WebhookServiceName,
  headers: Record<string, string>,
  body: string | Buffer,
): WebhookEvent =>
  parseEvent(service, {
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    rawHeaders: Object.entries(headers).flat(),
    rawBody: Buffer.from(body),
  });

const parseAs = (service: WebhookServiceName, event: string, payload: unknown): WebhookEvent =>
  parse(service, { [webhookService(service).eventHeader]: event }, JSON.stringify(payload));

const digest = (algorithm: string, body: string) =>
  createHash(algorithm).update(body).digest('hex');

describe('parseEvent', () => {
  it.each(WEBHOOK_SAMPLES.map((sample) => [sample.service, sample.event, sample] as const))(
    'reads the real event %s %s',
    (service, type, sample) => {
      const { payload, pushRef } = sample;
      const rawBody = Buffer.from(JSON.stringify(payload));
      const [least, max] = REAL_SIZES[service];
      expect(rawBody.length).toBeGreaterThan(least);
      expect(rawBody.length).toBeLessThan(max);
      const headers = deliveryHeaders(service, type, rawBody, 'key', { delivery: 'guid-1' });
      const request = {
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
        ),
        rawBody,
      };
      expect(isVerified(service, request, 'key')).toBe(true);
      const { ref, refName, headRef, statusApi } = sample;
      expect(parseEvent(service, request)).toEqual({
        service,
        type,
        guid: 'guid-1',
        guidWindowSeconds: null,
        ref,
        refName,
        headRef,
        statusApi,
        pushRef,
        // The synchronization of a mirror has no user.
        sender: type.startsWith('mirror:') ? null : expect.stringMatching(/^\w+$/),
        payload,
        payloadText: rawBody.toString(),
      });
    },
  );

  it('has a sample for every row of the table', () => {
    const rows = WEBHOOK_SERVICE_NAMES.flatMap((service) =>
      Object.keys(webhookService(service).events).map((event) => `${service} ${event}`),
    );
    expect(WEBHOOK_SAMPLES.map(({ service, event }) => `${service} ${event}`)).toEqual(rows);
  });

  it.each<[WebhookServiceName, string]>([
    ['service_a', 'ping'],
    ['service_a', 'issues'],
    ['service_a', 'Push Hook'],
    ['service_a', ''],
    ['service_a', 'constructor'],
    ['service_b', 'Job Hook'],
    ['service_b', '__proto__'],
    ['service_c_dc', 'diagnostics:ping'],
    ['service_c_dc', 'pr:merged'],
  ])('reads nothing from %s %s, which is not in the table', (service, type) => {
    const event = parseAs(service, type, { after: 'abc', ref: 'main' });
    expect(event).toMatchObject({
      type,
      ref: null,
      refName: null,
      headRef: null,
      statusApi: null,
    });
  });

  it('does not read the body of an unsigned event', () => {
    const event = parse('service_c_dc', { 'X-Service-C-Event': 'diagnostics:ping' }, 'not json');
    expect(event).toMatchObject({ ref: null, payload: {}, payloadText: '{}' });
  });

  it('treats an unusable event header as missing', () => {
    const rawBody = Buffer.from('{}');
    const twice = {
      headers: {},
      rawHeaders: ['X-Service-A-Event', 'push', 'X-Service-A-Event', 'push'],
      rawBody,
    };
    expect(parseEvent('service_a', twice).type).toBe('');
    expect(parseAs('service_a', 'p'.repeat(129), {}).type).toBe('');
    expect(parseAs('service_a', 'push\x01', {}).type).toBe('');
  });
});

describe('the identity of a delivery', () => {
  const body = '{"a":1}';
  const guid = (service: WebhookServiceName, headers: Record<string, string>) => {
    const event = parse(service, headers, body);
    return [event.guid, event.guidWindowSeconds];
  };

  it.each<[WebhookServiceName, Record<string, string>, string]>([
    ['service_a', { 'X-Service-A-Delivery': 'id' }, 'id'],
    ['service_a', { 'X-GitHub-Delivery': 'id' }, 'id'],
    ['service_b', { 'X-Service-B-Delivery': '3', 'webhook-id': '2', 'Idempotency-Key': '1' }, '1'],
    ['service_b', { 'X-Service-B-Delivery': '3', 'webhook-id': '2' }, '2'],
    ['service_b', { 'X-Service-B-Delivery': '3' }, '3'],
    ['service_c_dc', { 'X-Service-C-Delivery': 'id' }, 'id'],
    ['service_c_dc', { 'X-Service-C-Request-Id': 'id' }, 'id'],
    ['service_c_dc', { 'X-Request-Id': 'id' }, 'id'],
    ['service_c_dc', { 'X-Request-Id': 'from the proxy', 'X-Service-C-Delivery': 'id' }, 'id'],
    ['service_c_dc', { 'X-Request-Id': 'from the proxy', 'X-Service-C-Request-Id': 'id' }, 'id'],
  ])('from %s with %p is %s', (service, headers, expected) => {
    expect(guid(service, headers)).toEqual([expected, null]);
  });

  it('is a digest of the body without a header; for service B it is valid for one day', () => {
    expect(guid('service_a', {})).toEqual([digest('sha256', body), null]);
    expect(guid('service_b', {})).toEqual([digest('sha1', body), 86_400]);
    expect(guid('service_c_dc', {})).toEqual([digest('sha256', body), null]);
    expect(guid('service_a', { 'X-Service-A-Delivery': '  ' })).toEqual([
      digest('sha256', body),
      null,
    ]);
  });

  it('falls back to the digest when the header is repeated', () => {
    const rawHeaders = ['X-Service-A-Delivery', '1', 'x-service-a-delivery', '2'];
    const event = parseEvent('service_a', { headers: {}, rawHeaders, rawBody: Buffer.from(body) });
    expect(event.guid).toBe(digest('sha256', body));
  });

  it('hashes an identity that does not fit the column', () => {
    const long = 'g'.repeat(129);
    expect(guid('service_a', { 'X-Service-A-Delivery': 'g'.repeat(128) })).toEqual([
      'g'.repeat(128),
      null,
    ]);
    expect(guid('service_a', { 'X-Service-A-Delivery': long })).toEqual([
      digest('sha256', long),
      null,
    ]);
    expect(guid('service_a', { 'X-Service-A-Delivery': 'a\tb' })).toEqual([
      digest('sha256', 'a\tb'),
      null,
    ]);
  });
});

describe('refs', () => {
  const refOf = (after: unknown) => parseAs('service_a', 'push', { after }).ref;

  it.each<[string, unknown]>([
    ['forty zeros', '0'.repeat(40)],
    ['sixty-four zeros', '0'.repeat(64)],
    ['null', null],
    ['a number', 7],
    ['an object', { sha: 'x' }],
    ['a list', ['x']],
    ['an empty text', ''],
    ['a NUL', 'a\0b'],
    ['a line break', 'a\nb'],
    ['a lone surrogate', 'a\ud800'],
    ['a text of 1025 characters', 'a'.repeat(1025)],
  ])('are null for %s', (_name, after) => {
    expect(refOf(after)).toBeNull();
  });

  it('are kept for other values, including short runs of zeros', () => {
    for (const ref of ['0'.repeat(39), 'a'.repeat(64), 'größe/branch', 'a'.repeat(1024)]) {
      expect(refOf(ref)).toBe(ref);
    }
  });

  it.each<[WebhookServiceName, string, unknown]>([
    ['service_a', 'pull_request', { pull_request: { head: null } }],
    ['service_a', 'pull_request', { pull_request: 'text' }],
    ['service_a', 'release', {}],
    ['service_b', 'Push Hook', { checkout_sha: null }],
    ['service_b', 'Merge Request Hook', { object_attributes: [] }],
    ['service_c_dc', 'repo:refs_changed', { changes: [] }],
    ['service_c_dc', 'repo:refs_changed', { changes: null }],
    ['service_c_dc', 'pr:opened', { pullRequest: { toRef: {} } }],
  ])('of %s %s in %p are null without an error', (service, event, payload) => {
    expect(parseAs(service, event, payload)).toMatchObject({ ref: null, statusApi: null });
  });

  it('include the ref of a push that changes only one ref', () => {
    const [one, other] = ['main', 'stable'].map((name) => ({
      ref: { id: `refs/heads/${name}` },
      toHash: 'a'.repeat(40),
    }));
    const pushRefOf = (changes: unknown): string | null =>
      parseAs('service_c_dc', 'repo:refs_changed', { changes }).pushRef;
    expect(pushRefOf([one])).toBe('refs/heads/main');
    expect(pushRefOf([one, other])).toBeNull();
    expect(pushRefOf([])).toBeNull();
    expect(pushRefOf({ 0: one, length: 1 })).toBeNull();
  });

  it('never come from the prototype of the payload', () => {
    const event = parse(
      'service_a',
      { 'X-Service-A-Event': 'create' },
      '{"__proto__":{"ref":"main"}}',
    );
    expect(event.ref).toBeNull();
  });

  it('are read from any object without an error', () => {
    const rows = WEBHOOK_SAMPLES.map(({ service, event }) => [service, event] as const);
    fc.assert(
      fc.property(
        fc.constantFrom(...rows),
        fc.dictionary(fc.string(), fc.jsonValue()),
        ([service, event], payload) => {
          expect(parseAs(service, event, payload).type).toBe(event);
        },
      ),
    );
  });
});
