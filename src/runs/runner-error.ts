/**
 * Error for a run that cannot start: a value is invalid or a named object is missing. `message` is
 * displayed to the user (`job_explanation`) and contains no secrets.
 */
export class RunnerError extends Error {
  override readonly name = 'RunnerError';
}
