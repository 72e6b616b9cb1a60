import fc from 'fast-check';
import { WEBHOOK_SERVICE_NAMES, webhookService, type WebhookServiceName } from './services.js';
import { isVerified, sign } from './signature.js';

const KEY = 'Wk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk3yWk';
const TOKEN = 'X-Service-B-Token';

type Headers = [name: string, value: string][];

const verifies = (service: WebhookServiceName, headers: Headers, key: string, rawBody: Buffer) =>
  isVerified(service, { headers: {}, rawHeaders: headers.flat(), rawBody }, key);

describe('isVerified, for any input', () => {
  const anyService = fc.constantFrom(...WEBHOOK_SERVICE_NAMES);
  const anyKey = fc.string({ minLength: 1, maxLength: 64, unit: 'grapheme-ascii' });
  const anyBody = fc
    .uint8Array({ minLength: 1, maxLength: 300 })
    .map((bytes) => Buffer.from(bytes));
  const hmacRules = WEBHOOK_SERVICE_NAMES.flatMap((service) => {
    const { signature } = webhookService(service);
    if (signature.kind !== 'hmac') return [];
    return signature.headers.flatMap(({ name, algorithms }) =>
      algorithms.map((algorithm) => ({ service, name, algorithm })),
    );
  });
  const anyRule = fc.constantFrom(...hmacRules);

  it('accepts a body signed with the key and refuses every altered byte', () => {
    fc.assert(
      fc.property(
        anyRule,
        anyKey,
        anyBody,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (rule, key, body, at, flip) => {
          const headers: Headers = [[rule.name, sign(rule.algorithm, body, key)]];
          expect(verifies(rule.service, headers, key, body)).toBe(true);
          const altered = Buffer.from(body);
          const index = at % altered.length;
          altered[index] = (altered[index] ?? 0) ^ flip;
          expect(verifies(rule.service, headers, key, altered)).toBe(false);
          expect(verifies(rule.service, headers, key, body.subarray(0, index))).toBe(false);
        },
      ),
    );
  });

  it('refuses every truncated, extended or altered header value', () => {
    fc.assert(
      fc.property(
        anyRule,
        anyKey,
        anyBody,
        fc.nat(),
        fc.string({ minLength: 1 }),
        (rule, key, body, at, extra) => {
          const value = sign(rule.algorithm, body, key);
          const index = at % value.length;
          const other = value[index] === '1' ? '2' : '1';
          const altered = [
            value.slice(0, index),
            value.slice(index + 1),
            value + extra,
            extra + value,
            value.slice(0, index) + other + value.slice(index + 1),
          ];
          for (const wrong of altered) {
            expect(verifies(rule.service, [[rule.name, wrong]], key, body)).toBe(false);
          }
        },
      ),
    );
  });

  it('refuses every altered key, including changes of case', () => {
    fc.assert(
      fc.property(anyRule, anyKey, anyKey, anyBody, (rule, key, other, body) => {
        fc.pre(key !== other);
        const headers: Headers = [[rule.name, sign(rule.algorithm, body, other)]];
        // HMAC pads short keys with NUL, so the generated keys contain no NUL.
        expect(verifies(rule.service, headers, key, body)).toBe(false);
        expect(verifies('service_b', [[TOKEN, other]], key, body)).toBe(false);
        const swapped = key.toUpperCase() === key ? key.toLowerCase() : key.toUpperCase();
        if (swapped !== key)
          expect(verifies('service_b', [[TOKEN, swapped]], key, body)).toBe(false);
      }),
    );
  });

  it('returns false and never throws for garbage in every header', () => {
    const names = [
      'X-Service-A-Signature',
      'X-Service-A-Signature-256',
      TOKEN,
      'X-Service-C-Signature',
      'X-Hub-Signature',
      'X-Service-C-Event',
      '__proto__',
    ];
    const garbage = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((text) => `sha1=${text}`),
      fc.string().map((text) => `sha256=${text}`),
    );
    const headers = fc.array(fc.tuple(fc.constantFrom(...names), garbage), { maxLength: 6 });
    fc.assert(
      fc.property(anyService, headers, anyBody, (service, list, body) => {
        expect(verifies(service, list, KEY, body)).toBe(false);
      }),
    );
  });
});
