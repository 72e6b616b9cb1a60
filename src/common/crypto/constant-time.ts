import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (value: string | Uint8Array): Buffer => createHash('sha256').update(value).digest();

/**
 * Compares two values in a time that does not depend on where they differ. Strings are compared as UTF-8.
 *
 * Digests are compared instead of the values, because `timingSafeEqual` throws on unequal lengths, and
 * the error would reveal the length to an attacker.
 */
export function constantTimeEqual(left: string | Uint8Array, right: string | Uint8Array): boolean {
  return timingSafeEqual(digest(left), digest(right));
}
