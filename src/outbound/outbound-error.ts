import { memberOf } from '../common/records.js';

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
    super('redirect', `The server sent more than ${limit} redirects.`);
    this.name = 'RedirectLimitError';
  }
}

const KIND_BY_CODE: Readonly<Record<string, OutboundErrorKind>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'connect',
  EHOSTUNREACH: 'connect',
  ENETUNREACH: 'connect',
  EADDRNOTAVAIL: 'connect',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  HPE_INVALID_CONSTANT: 'reset',
  ETIMEDOUT: 'timeout',
  ESOCKET: 'connect',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too_large',
  UND_ERR_INVALID_ARG: 'invalid',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'invalid',
};

const TEXT_BY_KIND: Readonly<Record<OutboundErrorKind, string>> = {
  address: 'the address is not permitted',
  dns: 'the name could not be resolved',
  connect: 'the connection was refused or the host is unreachable',
  timeout: 'no response in time',
  tls: 'the TLS connection could not be established',
  reset: 'the connection was closed before the response was complete',
  redirect: 'the redirect was not followed',
  too_large: 'the response is too large',
  invalid: 'the request is not valid',
};

/**
 * Converts any error of a socket or of the HTTP client to an OutboundError about `target` (host and
 * port). The message contains the error code but no text of a library, which could quote the request.
 */
export function translateError(error: unknown, target: string): OutboundError {
  const outboundError = findOutboundError(error);
  if (outboundError) return outboundError;
  const code = codeOf(error);
  const kind = kindOf(code);
  const suffix = code ? ` (${code})` : '';
  return new OutboundError(kind, `${target}: ${TEXT_BY_KIND[kind]}${suffix}.`, { cause: error });
}

function kindOf(code: string): OutboundErrorKind {
  const kind = KIND_BY_CODE[code];
  if (kind) return kind;
  if (
    /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|HOSTNAME)/.test(code)
  )
    return 'tls';
  return 'connect';
}

/** Finds an OutboundError in nested errors: in `cause`, or in the AggregateError of several addresses. */
function findOutboundError(error: unknown): OutboundError | null {
  if (error instanceof OutboundError) return error;
  for (const inner of innerErrors(error)) {
    const found = findOutboundError(inner);
    if (found) return found;
  }
  return null;
}

function codeOf(error: unknown): string {
  const code = memberOf(error, 'code');
  if (typeof code === 'string' && code !== 'UND_ERR') return code;
  for (const inner of innerErrors(error)) {
    const found = codeOf(inner);
    if (found) return found;
  }
  return '';
}

function innerErrors(error: unknown): unknown[] {
  if (error instanceof AggregateError) return error.errors;
  if (error instanceof Error && error.cause instanceof Error) return [error.cause];
  return [];
}
