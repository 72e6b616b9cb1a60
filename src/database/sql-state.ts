/** SQLSTATE of each further statement in a transaction that has failed. */
const IN_FAILED_TRANSACTION = '25P02';

/** SQLSTATE of a prepared statement whose table a migration has changed. */
export const STALE_PLAN = '0A000';

/** Returns the SQLSTATE of a database error; an empty string for other values. */
export function sqlState(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** True if a statement failed only because its transaction had failed before. */
export const isConsequence = (error: unknown): boolean => sqlState(error) === IN_FAILED_TRANSACTION;

/**
 * True if the driver timed out before PostgreSQL responded. The statement can still take effect. The
 * connection is unusable, because a late response would be read as the response to the next statement.
 */
export const isDriverTimeout = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout';
