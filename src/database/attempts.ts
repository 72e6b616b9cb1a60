import { AsyncLocalStorage } from 'node:async_hooks';
import { sqlState, STALE_PLAN } from './sql-state.js';

/** To be tried again: serialization failure, deadlock, and a plan that a migration made stale. */
const RETRYABLE = new Set(['40001', '40P01', STALE_PLAN]);
const MAX_TRIES = 3;

/** Results of slow work that the running transaction needed in earlier attempts. */
const results = new AsyncLocalStorage<Map<string, unknown>>();

/** Rolls a transaction back that needs the result of slow work. */
class NeedsResult extends Error {
  constructor(
    readonly key: string,
    readonly work: () => Promise<unknown>,
  ) {
    super('The transaction begins again when the result of slow work is known');
  }
}

/** Runs a transaction until it is committed or fails for good. */
export async function attempted<T>(transaction: () => Promise<T>): Promise<T> {
  const known = new Map<string, unknown>();
  for (let attempt = 1; ; attempt++) {
    try {
      return await results.run(known, transaction);
    } catch (error) {
      if (error instanceof NeedsResult) known.set(error.key, await error.work());
      else if (attempt >= MAX_TRIES || !RETRYABLE.has(sqlState(error))) throw error;
    }
  }
}

/**
 * Runs slow work that needs no database, such as the hash of a password, without a transaction: the
 * ambient one is rolled back, gives its connection back, and runs again when the result is known.
 *
 * @param key name of the result in the transaction
 */
export async function outsideTransaction<T>(key: string, work: () => Promise<T>): Promise<T> {
  const known = results.getStore();
  if (!known) return work();
  if (!known.has(key)) throw new NeedsResult(key, work);
  return known.get(key) as T;
}
