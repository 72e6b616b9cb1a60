import type { TokenSubject } from '../identity-tokens.js';
import type { SecretReader } from './secret-store.js';

/**
 * Time for which a login is reused. The shortest sessions, those of Conjur, end after eight
 * minutes, and a run can sync its project between two lookups.
 */
const LOGIN_MS = 5 * 60 * 1000;

/** Timeout for ending all logins. */
const CLOSE_MS = 5000;

/**
 * Logins to secret stores during one run, status post or test, which logs in to each store once and reads
 * each secret once, no matter how often it opens credentials. Its owner closes it.
 */
export class LookupSession implements TokenSubject {
  private readonly readers = new Map<number, { reader: SecretReader; since: number }>();
  private readonly created: SecretReader[] = [];
  /** Aborts at the deadline of the current fetch. */
  deadline = AbortSignal.abort();
  /** Revision of the project that the run uses, once it is known. */
  revision = '';

  /** @param runId run that uses the values, or whose status is posted; null for a test */
  constructor(readonly runId: number | null = null) {}

  /** Returns the reader of a store. Creates a reader unless the known one has a recent login. */
  reader(storeId: number, create: () => SecretReader): SecretReader {
    const known = this.readers.get(storeId);
    if (known && Date.now() - known.since < LOGIN_MS) return known.reader;
    const reader = create();
    this.created.push(reader);
    this.readers.set(storeId, { reader, since: Date.now() });
    return reader;
  }

  /** Ends all logins. A login that cannot be ended expires by itself. */
  async close(): Promise<void> {
    this.deadline = AbortSignal.timeout(CLOSE_MS);
    this.readers.clear();
    await Promise.allSettled(this.created.splice(0).map(async (reader) => reader.close?.()));
  }
}
