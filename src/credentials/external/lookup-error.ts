/**
 * A value could not be fetched from a secret store. The message is told to users: it never holds an
 * answer of the store, nor anything of the credential that reaches it.
 */
export class LookupError extends Error {
  override readonly name = 'LookupError';
}
