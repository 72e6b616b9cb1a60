/**
 * Error for a value that could not be fetched from a secret store. Users see the message, so it never
 * contains a response of the store or data of the store's credential.
 */
export class LookupError extends Error {
  override readonly name = 'LookupError';

  /** @param status HTTP status with which the store refused */
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}
