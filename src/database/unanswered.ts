/**
 * Whether the driver gave up waiting for an answer. What was asked may still be done; the connection
 * is good for nothing, since the answer may yet come, and would be taken for that of the next one.
 */
export const isUnanswered = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout';
