/** SQLSTATE of each further statement in a transaction that has failed. */
const IN_FAILED_TRANSACTION = '25P02';

/** SQLSTATE of a violated unique constraint. */
export const UNIQUE_VIOLATION = '23505';

/** SQLSTATE of a reference to a missing row. */
export const BROKEN_REFERENCE = '23503';

/** SQLSTATE of a prepared statement whose table a migration has changed. */
export const STALE_PLAN = '0A000';

/** Returns the SQLSTATE of a database error; an empty string for other values. */
export function sqlState(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** Returns true if PostgreSQL ended a statement at its timeout. */
export const isStatementTimeout = (error: unknown): boolean => sqlState(error) === '57014';

/** Returns true if a statement did not get a lock in time. */
export const isLockTimeout = (error: unknown): boolean => sqlState(error) === '55P03';

/** Returns true if a server refused a write because it is a standby, such as the former primary after a failover. */
export const isStandby = (error: unknown): error is Error => sqlState(error) === '25006';

/** Returns true if a statement failed only because its transaction had failed before. */
export const isConsequence = (error: unknown): boolean => sqlState(error) === IN_FAILED_TRANSACTION;

/**
 * Returns true if the driver timed out before PostgreSQL responded. The statement can still take effect. The
 * connection is unusable, because a late response would be read as the response to the next statement.
 */
export const isDriverTimeout = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout';

/** SQLSTATE classes: connection, resources, operator, system, conflict, lock not available. */
const TRANSIENT_CLASSES = new Set(['08', '53', '57', '58', '40', '55']);
const NETWORK_CODES = /^(ECONN|EHOST|ENET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;
/** Messages of errors of the driver and its pool that have no code. */
const LOST_CONNECTION =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client (has|was)|^Cannot use a pool/;

/** Returns true if the cause of a database error is outside the statement, so that a retry can succeed. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  if (state.length === 5 && TRANSIENT_CLASSES.has(state.slice(0, 2))) return true;
  if (NETWORK_CODES.test(state)) return true;
  if (isDriverTimeout(error) || isStandby(error)) return true;
  return error instanceof Error && LOST_CONNECTION.test(error.message);
}
