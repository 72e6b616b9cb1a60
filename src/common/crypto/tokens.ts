import { createHash } from 'node:crypto';
import { randomAlphanumeric } from './random-key.js';

/** Characters of randomness in a token: 43 of 62 letters are 256 bits. */
const RANDOM_LENGTH = 43;

/** The prefix lets secret scanners recognise a leaked token. */
export const ACCESS_TOKEN_PREFIX = 'act';

/** A new token, shown once, and the digest that is stored instead of it. */
export interface IssuedToken {
  token: string;
  digest: string;
}

/** Issues `<prefix>_<43 base62 characters>`. */
export function issueToken(prefix: string = ACCESS_TOKEN_PREFIX): IssuedToken {
  const token = `${prefix}_${randomAlphanumeric(RANDOM_LENGTH)}`;
  return { token, digest: tokenDigest(token) };
}

/**
 * SHA-256 (hex, 64 characters) of a token: what is stored and looked up. A fast digest is enough,
 * because the token has 256 random bits and cannot be guessed from it.
 */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
