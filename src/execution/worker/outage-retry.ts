import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient } from '../../database/sql-state.js';

const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 2000;

/**
 * Retries work while it fails because the database is unavailable
 * (docs/contract/operations.md#outages).
 *
 * @param mayWait called with the last error before each wait; false gives up with this error
 */
export async function retryOutage<T>(
  work: () => Promise<T>,
  mayWait: (error: unknown) => boolean,
): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || !mayWait(error)) throw error;
      await sleep(wait);
    }
  }
}
