import { OutboundError } from './outbound-error.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Upper bound of the wait before each attempt, in milliseconds
 * (docs/contract/operations.md#retries).
 */
const LADDER_MS: readonly number[] = [
  0,
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
];

/** Attempts in all, the first one included. */
export const MAX_ATTEMPTS = LADDER_MS.length;

/** A service may not push the next attempt further away than the longest step of our own. */
export const RETRY_AFTER_CAP_MS = 2 * HOUR;

const RETRYABLE_CLIENT_ERRORS: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether an HTTP answer may become a success later: 408, 425, 429 and 5xx, never another 4xx. */
export function isRetryableStatus(status: number): boolean {
  return RETRYABLE_CLIENT_ERRORS.has(status) || (status >= 500 && status <= 599);
}

/** Whether a failed call may be tried again; errors we do not know are taken for bugs of ours. */
export function isRetryableError(error: unknown): boolean {
  return error instanceof OutboundError && error.retryable;
}

/**
 * Milliseconds to wait before the next attempt, or null when the attempts are used up.
 * `attempts` is how many were made so far (0 before the first). Full jitter: between 0 and the
 * step; a `Retry-After` (see parseRetryAfter) is a lower bound on top of it.
 */
export function nextDelayMs(
  attempts: number,
  random: () => number,
  retryAfterMs?: number,
): number | null {
  const step = LADDER_MS[attempts];
  if (step === undefined) return null;
  const jittered = Math.floor(random() * step);
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, RETRY_AFTER_CAP_MS));
}

/**
 * Reads a `Retry-After` header: seconds or an HTTP date. Returns milliseconds from `nowMs`, at
 * least 0 and at most RETRY_AFTER_CAP_MS, or undefined when absent or unreadable.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * SECOND : httpDate(text) - nowMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(waitMs, 0), RETRY_AFTER_CAP_MS);
}

/** HTTP dates start with a day name; `Date.parse` alone would also take `-5` or `2.5`. */
function httpDate(text: string): number {
  return /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
}
