/** Why an outbound call failed, in the words the retry policy and the attempt log use. */
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

/** Transient by nature; the other kinds repeat themselves however often they are tried. */
const RETRYABLE_KINDS: ReadonlySet<OutboundErrorKind> = new Set([
  'dns',
  'connect',
  'timeout',
  'reset',
]);

/**
 * A failed outbound call. `message` is safe to store and to show: it never holds a path, a query,
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

/** The redirect chain was longer than allowed; callers have their own contract text for it. */
export class RedirectLimitError extends OutboundError {
  constructor(readonly limit: number) {
    super('redirect', `More than ${limit} redirects were answered.`);
    this.name = 'RedirectLimitError';
  }
}
