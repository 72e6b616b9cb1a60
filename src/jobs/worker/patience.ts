import { setTimeout as sleep } from 'node:timers/promises';
import { sqlState } from '../../database/database.js';

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 2000;
/** Classes: connection, resources, intervention of an operator, system, conflict, lock not got. */
const PASSING_CLASSES = ['08', '53', '57', '58', '40', '55'];
const LOST_CONNECTION =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered/;

/** Whether a database error says nothing about the statement, so that it can be tried again. */
export function isPassing(error: unknown): boolean {
  const state = sqlState(error);
  if (PASSING_CLASSES.includes(state.slice(0, 2)) && state.length === 5) return true;
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/.test(state)) return true;
  return error instanceof Error && LOST_CONNECTION.test(error.message);
}

/**
 * Tries work again for as long as only the database's absence is the reason it fails
 * (docs/contract/operations.md#outages).
 *
 * @param mayWait asked before each wait; false gives up with the last error
 */
export async function patiently<T>(work: () => Promise<T>, mayWait: () => boolean): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || !mayWait()) throw error;
      await sleep(wait);
    }
  }
}
