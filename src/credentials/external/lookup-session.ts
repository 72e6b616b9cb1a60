import type { TokenSubject } from '../identity-tokens.js';
import type { SecretReader } from './secret-store.js';

/**
 * Logins to secret stores during one run: each store is logged in to once, and each secret is read once,
 * however often the run opens credentials.
 */
export class LookupSession implements TokenSubject {
  /** Readers by the id of the store's credential. */
  readonly readers = new Map<number, SecretReader>();
  /** End of the time for the values that are fetched at the moment. */
  deadline = AbortSignal.abort();
  /** Revision of the project that the run uses, once it is known. */
  revision = '';

  /** @param runId run that uses the values; null outside of runs */
  constructor(readonly runId: number | null = null) {}
}
