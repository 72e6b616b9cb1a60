/** Reason of a failed outbound call, as used by the retry policy and the attempt log. */
export type OutboundErrorKind =
  | 'address'
  | 'dns'
  | 'connect'
  | 'timeout'
  | 'tls'
  | 'reset'
  | 'redirect'
  | 'too_large'
  | 'invalid';

/** Kinds of errors that can be temporary. The other kinds recur on every attempt. */
const RETRYABLE_KINDS: ReadonlySet<OutboundErrorKind> = new Set([
  'dns',
  'connect',
  'timeout',
  'reset',
]);

/**
 * Error of an outbound call. `message` is safe to store and to show: it never contains a path, a query,
 * user information, a header or a body of the request.
 */
export class OutboundError extends Error {
  readonly retryable: boolean;

  constructor(
    readonly kind: OutboundErrorKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'OutboundError';
    this.retryable = RETRYABLE_KINDS.has(kind);
  }
}

/** The redirect chain exceeded the limit. Callers have a separate contract message for this error. */
export class RedirectLimitError extends OutboundError {
  constructor(readonly limit: number) {
    super('redirect', `More than ${limit} redirects were answered.`);
    this.name = 'RedirectLimitError';
  }
}
