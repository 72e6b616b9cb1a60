import { sqlState, isDriverTimeout } from './sql-state.js';

/** SQLSTATE classes: connection, resources, operator, system, conflict, lock not available. */
const TRANSIENT_CLASSES = new Set(['08', '53', '57', '58', '40', '55']);
const NETWORK_CODES = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;
/** Messages of errors of the driver and its pool that have no code. */
const LOST_CONNECTION =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client (has|was)|^Cannot use a pool/;

/** True if the cause of a database error is outside the statement, so that a retry can succeed. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  if (state.length === 5 && TRANSIENT_CLASSES.has(state.slice(0, 2))) return true;
  if (NETWORK_CODES.test(state)) return true;
  if (isDriverTimeout(error)) return true;
  return error instanceof Error && LOST_CONNECTION.test(error.message);
}
