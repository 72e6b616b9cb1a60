/** In a transaction that has failed every further statement fails with this. */
const IN_FAILED_TRANSACTION = '25P02';

/** "cached plan must not change result type": a migration ran since the statement was prepared. */
export const STALE_PLAN = '0A000';

/** The SQLSTATE of a database error, or an empty string for anything else. */
export function sqlState(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** True if a statement failed only because an earlier one of its transaction had failed. */
export const isConsequence = (error: unknown): boolean => sqlState(error) === IN_FAILED_TRANSACTION;

/**
 * True if the driver timed out before PostgreSQL responded. The statement can still take effect. The
 * connection is unusable, because a late response would be taken for that of the next statement.
 */
export const isUnanswered = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout';
