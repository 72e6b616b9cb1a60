import { AsyncLocalStorage } from 'node:async_hooks';
import { sqlState, STALE_PLAN } from './sql-state.js';

/** SQLSTATEs to retry: serialization failure, deadlock, and a plan that a migration made stale. */
const RETRYABLE = new Set(['40001', '40P01', STALE_PLAN]);
const MAX_TRIES = 3;

type Result = Readonly<Record<string, unknown>>;

/** Results of slow work, in the order in which the running transaction needs them. */
const results = new AsyncLocalStorage<{ known: readonly Result[]; used: number }>();

/** Rolls back a transaction that needs the result of slow work. */
class NeedsResult extends Error {
  constructor(readonly work: () => Promise<Result>) {
    super('The transaction is repeated once the result of the slow work is known');
  }
}

/** Runs a transaction until it is committed or fails for good. */
export async function withRetries<T>(transaction: () => Promise<T>): Promise<T> {
  const knownResults: Result[] = [];
  for (let attempt = 1; ;) {
    try {
      return await results.run({ known: knownResults, used: 0 }, transaction);
    } catch (error) {
      if (error instanceof NeedsResult) knownResults.push(await error.work());
      else if (attempt >= MAX_TRIES || !RETRYABLE.has(sqlState(error))) throw error;
      else attempt += 1;
    }
  }
}

/**
 * Runs slow work that needs no database, such as the hash of a password, outside the transaction. The
 * ambient transaction is rolled back, releases its connection, and runs again once the result is known.
 */
export async function outsideTransaction(work: () => Promise<Result>): Promise<Result> {
  const attempt = results.getStore();
  if (!attempt) return work();
  const result = attempt.known[attempt.used];
  if (!result) throw new NeedsResult(work);
  attempt.used += 1;
  return result;
}
