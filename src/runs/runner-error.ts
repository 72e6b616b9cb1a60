/**
 * The run cannot be started as asked: a value is not acceptable or something it names is missing.
 * `message` is fit for the user (`job_explanation`) and holds no secret.
 */
export class RunnerError extends Error {
  override readonly name = 'RunnerError';
}
