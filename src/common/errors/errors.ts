/** Error messages by field, or under `__all__`. Nested maps describe entries of lists. */
export interface FieldErrors {
  [field: string]: string[] | FieldErrors | FieldErrors[];
}

/** Returns the messages of all fields as one text. */
export const textOfErrors = (errors: FieldErrors): string =>
  Object.values(errors).flat().map(String).join(' ');

/** Base class of domain errors. Domain errors carry data; `errors.filter.ts` maps them to status and body. */
export abstract class DomainError extends Error {
  /** Kind of the security event that the refusal is logged as; null if the refusal is not logged. */
  event: SecurityEvent | null = null;
}

/** Refusals and changes that are logged and counted (docs/contract/operations.md#security-events). */
export const SECURITY_EVENTS = [
  'login_refused',
  'second_factor_removed',
  'unauthenticated',
  'forbidden',
  'csrf',
  'grant_denied',
  'delivery_rejected',
  'throttled',
] as const;
export type SecurityEvent = (typeof SECURITY_EVENTS)[number];

/** The request is not authenticated. */
export class Unauthenticated extends DomainError {
  override event: SecurityEvent = 'unauthenticated';
}
/** Refused login, for example with a wrong password. `account` is the username of the attempt, if known. */
export class LoginRefused extends Unauthenticated {
  override event: SecurityEvent = 'login_refused';

  constructor(
    detail: string,
    readonly account: string | null = null,
  ) {
    super(detail);
  }
}
/**
 * The caller lacks the permission. `detail` replaces the default message where the contract has another.
 */
export class Forbidden extends DomainError {
  /** Page on which the user can remove the reason for the refusal. */
  readonly page: string | undefined;

  constructor(
    readonly detail?: string,
    override readonly event: SecurityEvent = 'forbidden',
  ) {
    super(detail ?? 'forbidden');
  }
}
const SECOND_FACTOR_PAGE = '/second-factor/';

/** The user of a session must set up a second factor first. */
export class SecondFactorRequired extends Forbidden {
  override readonly page = SECOND_FACTOR_PAGE;

  constructor() {
    super(`Set up a second factor on the page ${SECOND_FACTOR_PAGE} first.`);
  }
}
/** No such object, page or URL. */
export class NotFound extends DomainError {
  constructor(readonly detail = 'Not found.') {
    super(detail);
  }
}
/** The URL exists but does not support the method. */
export class MethodNotAllowed extends DomainError {
  constructor(
    readonly method: string,
    readonly allowed: readonly string[] = [],
    /** Replaces the default message where the contract has another. */
    readonly detail?: string,
  ) {
    super(`${method} is not allowed`);
  }
}
/** The request cannot be understood or carried out. Body: `{detail}` and the members of `further`. */
export class BadRequest extends DomainError {
  constructor(
    readonly detail: string,
    override readonly event: SecurityEvent | null = null,
    /** Further members of the body, which existing clients read. */
    readonly further: object = {},
  ) {
    super(detail);
  }
}
/** `BadRequest` that an HTML form shows beside the fields concerned, with separate messages. */
export class BadFields extends BadRequest {
  constructor(
    detail: string,
    readonly inForm: FieldErrors,
  ) {
    super(detail);
  }
}
/**
 * Fields of the body are invalid. Body: field to messages; `__all__` for errors that concern several
 * fields.
 */
export class Invalid extends DomainError {
  constructor(readonly errors: FieldErrors) {
    super('invalid request body');
  }

  static all(message: string): Invalid {
    return new Invalid({ __all__: [message] });
  }

  static field(name: string, message: string): Invalid {
    return new Invalid({ [name]: [message] });
  }
}
/**
 * Active work, pending notifications, idempotency conflicts, lost races
 * (docs/contract/conventions.md#errors).
 */
export class Conflict extends DomainError {
  constructor(
    readonly detail: string,
    /** Further members of the body, which existing clients read. */
    readonly further: object = {},
  ) {
    super(detail);
  }
}
/**
 * Unfinished runs use the object. Body: `{detail, error, active_jobs}`, of which existing clients read
 * the last two (docs/contract/conventions.md#errors).
 */
export class InUse extends Conflict {
  constructor(
    names: string,
    active_jobs: readonly { readonly id: number; readonly type: string }[],
  ) {
    const error = 'Resource is being used by running jobs';
    super(`${error}: ${names}.`, { error: `${error}.`, active_jobs });
  }
}
export class PayloadTooLarge extends DomainError {
  constructor(readonly limitBytes: number) {
    super('payload too large');
  }
}
export class UnsupportedMediaType extends DomainError {
  constructor(readonly detail?: string) {
    super(detail ?? 'unsupported media type');
  }
}
export class NotAcceptable extends DomainError {}
export class TooManyRequests extends DomainError {
  override event: SecurityEvent = 'throttled';

  constructor(readonly retryAfterSeconds: number) {
    super('too many requests');
  }
}
/** A service that the request depends on is unavailable; the client can retry. */
export class Unavailable extends DomainError {
  constructor(
    readonly retryAfterSeconds = 5,
    /** Replaces the default message if the reason for the delay is known. */
    readonly detail?: string,
  ) {
    super(detail ?? 'unavailable');
  }
}

/** Returns the message of anything that can be thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Returns the result of a function, or `fallback` if the function throws an error of the type. */
export function resultOr<Result, Fallback>(
  read: () => Result,
  fallback: Fallback,
  type: abstract new (...args: never[]) => unknown = Error,
): Result | Fallback {
  try {
    return read();
  } catch (error) {
    if (error instanceof type) return fallback;
    throw error;
  }
}

/** Returns the message with the stack trace, for the log. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
