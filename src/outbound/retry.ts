const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Maximum delays in ms before the first and each later attempt (docs/contract/operations.md#retries). */
const MAX_DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
];

/** Maximum delay that a service can request by `Retry-After`: the longest regular delay. */
export const RETRY_AFTER_CAP_MS = 2 * HOUR;

const RETRYABLE_CLIENT_ERRORS: ReadonlySet<number> = new Set([408, 425, 429]);

/** Returns true if an HTTP status can succeed later: 408, 425, 429 and 5xx, never another 4xx. */
export function isRetryableStatus(status: number): boolean {
  return RETRYABLE_CLIENT_ERRORS.has(status) || (status >= 500 && status <= 599);
}

/**
 * Returns the delay in milliseconds before the next attempt, or null after the last one. Uses full
 * jitter: a random delay between 0 and the step. A `Retry-After` (see parseRetryAfter) raises the lower
 * bound.
 *
 * @param attempts number of attempts so far (0 before the first)
 */
export function nextDelayMs(
  attempts: number,
  random: () => number,
  retryAfterMs?: number,
): number | null {
  const step = MAX_DELAYS_MS[attempts];
  if (step === undefined) return null;
  const jittered = Math.floor(random() * step);
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, RETRY_AFTER_CAP_MS));
}

/**
 * Parses a `Retry-After` header with seconds or an HTTP date. Returns milliseconds from `nowMs`, between
 * 0 and RETRY_AFTER_CAP_MS, or undefined if the header is absent or invalid.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * SECOND : httpDate(text) - nowMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(waitMs, 0), RETRY_AFTER_CAP_MS);
}

/**
 * Parses an HTTP date, which starts with a day name. `Date.parse` alone would also accept `-5` or `2.5`.
 */
function httpDate(text: string): number {
  return /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
}
