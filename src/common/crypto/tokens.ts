import { createHash } from 'node:crypto';
import { randomAlphanumeric } from './random-key.js';

/** Number of random letters and digits in a token, which have 256 bits of entropy. */
const RANDOM_LENGTH = 43;

/** Prefix by which secret scanners recognize a leaked token. */
const ACCESS_TOKEN_PREFIX = 'act';

/** New token, which is shown once, and the digest that is stored instead of the token. */
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
 * Returns the SHA-256 digest (hex, 64 characters) by which a token is stored and looked up. A fast digest
 * is enough: the token has 256 random bits and cannot be guessed from its digest.
 */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
