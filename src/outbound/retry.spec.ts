import fc from 'fast-check';
import { OutboundError } from './outbound-error.js';
import { RETRY_AFTER_CAP_MS, isRetryableStatus, nextDelayMs, parseRetryAfter } from './retry.js';

describe('isRetryableStatus', () => {
  it.each([408, 425, 429, 500, 502, 503, 504, 599])('retries %i', (status) => {
    expect(isRetryableStatus(status)).toBe(true);
  });

  it('never retries other responses', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 499 }), (status) => {
        fc.pre(![408, 425, 429].includes(status));
        return !isRetryableStatus(status);
      }),
    );
  });
});

describe('a failed call', () => {
  it.each([
    ['dns', true],
    ['connect', true],
    ['timeout', true],
    ['reset', true],
    ['address', false],
    ['tls', false],
    ['redirect', false],
    ['too_large', false],
    ['invalid', false],
  ] as const)('is retried after %s: %s', (kind, expected) => {
    expect(new OutboundError(kind, 'x').retryable).toBe(expected);
  });
});

describe('nextDelayMs', () => {
  it('increases the delays step by step', () => {
    const steps = [0, 1, 2, 3, 4, 5, 6, 7].map((attempts) =>
      nextDelayMs(attempts, () => 0.999999999),
    );
    const expected = [0, 5, 30, 120, 600, 1800, 3600, 7200].map((s) => Math.max(s * 1000 - 1, 0));
    expect(steps).toEqual(expected);
  });

  it('ends after the last attempt', () => {
    expect(nextDelayMs(8, Math.random)).toBeNull();
  });

  it('stays within the step and never below Retry-After', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 7 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 0, max: 10 * RETRY_AFTER_CAP_MS }),
        (attempts, random, retryAfter) => {
          const delay = nextDelayMs(attempts, () => random, retryAfter) ?? -1;
          return delay >= Math.min(retryAfter, RETRY_AFTER_CAP_MS) && delay <= RETRY_AFTER_CAP_MS;
        },
      ),
    );
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('Sun, 06 Nov 1994 08:49:37 GMT');
  it.each([
    ['7', 7000],
    [' 0 ', 0],
    ['999999', RETRY_AFTER_CAP_MS],
    ['Sun, 06 Nov 1994 08:50:07 GMT', 30_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%p means %p', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});
