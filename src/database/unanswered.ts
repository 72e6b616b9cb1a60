/**
 * True if the driver timed out before PostgreSQL responded. The statement can still take effect. The
 * connection is unusable, because a late response would be taken for that of the next statement.
 */
export const isUnanswered = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout';
