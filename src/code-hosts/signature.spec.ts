import { createHmac } from 'node:crypto';
import { deliveryHeaders, SERVICE_ROWS } from '../../test/support/payloads/webhooks.js';
import { parseHeaderAliases } from './headers.js';
import type { WebhookServiceName } from './services.js';
import { isVerified, sign } from './signature.js';

const KEY = 'Wk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk';
const BODY = Buffer.from('{"ref":"refs/heads/main"}');

type Headers = [name: string, value: string][];

const request = (headers: Headers, rawBody: Buffer = BODY) => ({
  headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
  rawHeaders: headers.flat(),
  rawBody,
});

const verifies = (service: WebhookServiceName, headers: Headers, key = KEY, body = BODY) =>
  isVerified(service, request(headers, body), key);

const sha1 = sign('sha1', BODY, KEY);
const sha256 = sign('sha256', BODY, KEY);
const A1 = 'X-Service-A-Signature';
const A256 = 'X-Service-A-Signature-256';
const TOKEN = 'X-Service-B-Token';
const C = 'X-Service-C-Signature';
const zeros = (length: number) => '0'.repeat(length);

const ACCEPTED: [string, WebhookServiceName, Headers][] = [
  ['A with SHA-1', 'service_a', [[A1, sha1]]],
  ['A with SHA-256 alone', 'service_a', [[A256, sha256]]],
  [
    'A with both',
    'service_a',
    [
      [A1, sha1],
      [A256, sha256],
    ],
  ],
  ['A with upper-case digits', 'service_a', [[A1, `sha1=${sha1.slice(5).toUpperCase()}`]]],
  ['A in another header case', 'service_a', [[A1.toLowerCase(), sha1]]],
  [
    'A as the real service sends it',
    'service_a',
    [
      ['X-Hub-Signature', sha1],
      ['X-Hub-Signature-256', sha256],
    ],
  ],
  ['B with the token', 'service_b', [[TOKEN, KEY]]],
  ['B as the real service sends it', 'service_b', [['X-Gitlab-Token', KEY]]],
  ['C with SHA-256', 'service_c_dc', [[C, sha256]]],
  ['C with SHA-1', 'service_c_dc', [[C, sha1]]],
  ['C as the real service sends it', 'service_c_dc', [['X-Hub-Signature', sha256]]],
];

const REFUSED: [string, WebhookServiceName, Headers][] = [
  ['A without a signature', 'service_a', []],
  ['A with an empty signature', 'service_a', [[A1, '']]],
  [
    'A with a wrong SHA-256 beside a good SHA-1',
    'service_a',
    [
      [A1, sha1],
      [A256, `sha256=${zeros(64)}`],
    ],
  ],
  [
    'A with a wrong SHA-1 beside a good SHA-256',
    'service_a',
    [
      [A1, `sha1=${zeros(40)}`],
      [A256, sha256],
    ],
  ],
  [
    'A with an empty SHA-256 beside a good SHA-1',
    'service_a',
    [
      [A1, sha1],
      [A256, ''],
    ],
  ],
  ['A with SHA-256 in the SHA-1 header', 'service_a', [[A1, sha256]]],
  ['A with SHA-1 in the SHA-256 header', 'service_a', [[A256, sha1]]],
  ['A with another algorithm', 'service_a', [[A1, `md5=${zeros(32)}`]]],
  [
    'A with a good value of sha512',
    'service_a',
    [[A1, `sha512=${createHmac('sha512', KEY).update(BODY).digest('hex')}`]],
  ],
  ['A without the algorithm', 'service_a', [[A1, sha1.slice(5)]]],
  ['A with two equals signs', 'service_a', [[A1, `sha1==${sha1.slice(5)}`]]],
  ['A with only the algorithm', 'service_a', [[A1, 'sha1=']]],
  ['A with an upper-case algorithm', 'service_a', [[A1, sha1.replace('sha1', 'SHA1')]]],
  [
    'A with base64',
    'service_a',
    [[A1, `sha1=${createHmac('sha1', KEY).update(BODY).digest('base64')}`]],
  ],
  ['A with spaces', 'service_a', [[A1, ` ${sha1}`]]],
  [
    'A with the header twice',
    'service_a',
    [
      [A1, sha1],
      [A1, sha1],
    ],
  ],
  [
    'A with the header and its alias',
    'service_a',
    [
      [A1, sha1],
      ['X-Hub-Signature', sha1],
    ],
  ],
  ['A with a megabyte', 'service_a', [[A1, `sha1=${'a'.repeat(1_000_000)}`]]],
  ['A with the token of B', 'service_a', [[TOKEN, KEY]]],
  ['B without a token', 'service_b', []],
  ['B with an empty token', 'service_b', [[TOKEN, '']]],
  [
    'B with the header twice',
    'service_b',
    [
      [TOKEN, KEY],
      [TOKEN, KEY],
    ],
  ],
  [
    'B with the header and its alias',
    'service_b',
    [
      [TOKEN, KEY],
      ['X-Gitlab-Token', KEY],
    ],
  ],
  ['B with the key twice in one value', 'service_b', [[TOKEN, `${KEY}, ${KEY}`]]],
  ['B with a longer token', 'service_b', [[TOKEN, `${KEY}x`]]],
  ['B with a megabyte', 'service_b', [[TOKEN, KEY.repeat(20_000)]]],
  [
    'B with a signature instead',
    'service_b',
    [
      [A1, sha1],
      [C, sha256],
    ],
  ],
  ['C without a signature', 'service_c_dc', []],
  ['C with another algorithm', 'service_c_dc', [[C, `md5=${zeros(32)}`]]],
  ['C with SHA-1 labeled as SHA-256', 'service_c_dc', [[C, sha1.replace('sha1', 'sha256')]]],
  ['C with two values in one header', 'service_c_dc', [[C, `${sha256}, ${sha1}`]]],
  ['C with the token of B', 'service_c_dc', [[TOKEN, KEY]]],
];

describe('isVerified', () => {
  it.each(ACCEPTED)('accepts %s', (_name, service, headers) => {
    expect(verifies(service, headers)).toBe(true);
  });

  it.each(REFUSED)('refuses %s', (_name, service, headers) => {
    expect(verifies(service, headers)).toBe(false);
  });

  it.each(SERVICE_ROWS)('%s: refuses another key, an altered body and an empty key', (service) => {
    const good = Object.entries(deliveryHeaders(service, 'x', BODY, KEY)) as Headers;
    expect(verifies(service, good)).toBe(true);
    expect(verifies(service, good, KEY.toLowerCase())).toBe(false);
    expect(
      verifies(service, Object.entries(deliveryHeaders(service, 'x', BODY, '')) as Headers, ''),
    ).toBe(false);
    if (service !== 'service_b') {
      expect(verifies(service, good, KEY, Buffer.concat([BODY, Buffer.from('\n')]))).toBe(false);
    }
  });

  it('reads the parsed headers if there are no raw headers', () => {
    const map = { headers: { 'x-service-a-signature': sha1 }, rawBody: BODY };
    expect(isVerified('service_a', map, KEY)).toBe(true);
    const list = { headers: { 'x-service-a-signature': [sha1, sha1] } as never, rawBody: BODY };
    expect(isVerified('service_a', list, KEY)).toBe(false);
  });

  it('refuses a body that was not kept as bytes', () => {
    const parsed = { ...request([[A1, sha1]]), rawBody: undefined as never };
    expect(isVerified('service_a', parsed, KEY)).toBe(false);
  });

  it('reads the bytes of a token header as they were sent', () => {
    const key = 'schlüssel';
    const sent = Buffer.from(key, 'utf8').toString('latin1');
    expect(verifies('service_b', [[TOKEN, sent]], key)).toBe(true);
  });

  it('applies the setting of header aliases', () => {
    const custom = parseHeaderAliases(['X-Service-A-Signature=X-Mine']);
    expect(isVerified('service_a', request([['X-Mine', sha1]]), KEY, custom)).toBe(true);
    expect(isVerified('service_a', request([['X-Hub-Signature', sha1]]), KEY, custom)).toBe(false);
  });

  describe('connection test of service C', () => {
    const ping: Headers = [['X-Service-C-Event', 'diagnostics:ping']];

    it('needs no signature, under either header name', () => {
      expect(verifies('service_c_dc', ping)).toBe(true);
      expect(verifies('service_c_dc', [['X-Event-Key', 'diagnostics:ping']])).toBe(true);
    });

    it('still needs a template with a key', () => {
      expect(verifies('service_c_dc', ping, '')).toBe(false);
    });

    it('does not authenticate other services or other events', () => {
      expect(verifies('service_a', [['X-Service-A-Event', 'diagnostics:ping']])).toBe(false);
      expect(verifies('service_a', [['X-Service-A-Event', 'ping']])).toBe(false);
      expect(verifies('service_c_dc', [['X-Service-C-Event', 'pr:opened']])).toBe(false);
      expect(verifies('service_c_dc', [...ping, ...ping])).toBe(false);
      expect(
        verifies('service_c_dc', [
          ['X-Service-C-Event', 'pr:opened'],
          ['X-Event-Key', 'diagnostics:ping'],
        ]),
      ).toBe(false);
    });
  });
});
