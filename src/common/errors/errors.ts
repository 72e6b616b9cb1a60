/** What a field, or `__all__`, has to be told. Nested maps describe entries of lists. */
export interface FieldErrors {
  [field: string]: string[] | FieldErrors | FieldErrors[];
}

/** Errors of the domain carry data; `errors.filter.ts` turns them into status and body. */
export abstract class DomainError extends Error {
  /** As what the refusal is told to whoever watches over the installation; null: not worth it. */
  event: SecurityEvent | null = null;
}

/** Refusals that are logged and counted (docs/contract/operations.md#security-events). */
export const SECURITY_EVENTS = [
  'login_refused',
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
/** A password was wrong. `account` is the user it was tried for, where there is one. */
export class LoginRefused extends Unauthenticated {
  override event: SecurityEvent = 'login_refused';

  constructor(
    detail: string,
    readonly account: string | null = null,
  ) {
    super(detail);
  }
}
/** The caller may not do this. `detail` replaces the general sentence where the contract has one. */
export class Forbidden extends DomainError {
  constructor(
    readonly detail?: string,
    override readonly event: SecurityEvent = 'forbidden',
  ) {
    super(detail ?? 'forbidden');
  }
}
/** No such object, page or URL. */
export class NotFound extends DomainError {
  constructor(readonly detail = 'Not found.') {
    super(detail);
  }
}
/** The URL exists and does not know this method. */
export class MethodNotAllowed extends DomainError {
  constructor(
    readonly method: string,
    readonly allowed: readonly string[] = [],
    /** Replaces the general sentence where the contract has one. */
    readonly detail?: string,
  ) {
    super(`${method} is not allowed`);
  }
}
/** The request cannot be understood: bad JSON, bad query string. Body: `{detail}`. */
export class BadRequest extends DomainError {
  constructor(
    readonly detail: string,
    override readonly event: SecurityEvent | null = null,
  ) {
    super(detail);
  }
}
/** A `BadRequest` that a form tells beside the fields it is about, in its own words. */
export class BadFields extends BadRequest {
  constructor(
    detail: string,
    readonly inForm: FieldErrors,
  ) {
    super(detail);
  }
}
/** Fields of the body are wrong. Body: field to messages; `__all__` for several fields together. */
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
  constructor(readonly detail: string) {
    super(detail);
  }
}
/**
 * Runs that have not ended use the object. Body: `{detail, error, active_jobs}`, of which real clients
 * read the last two (docs/contract/conventions.md#errors).
 */
export class InUse extends Conflict {
  constructor(
    names: string,
    readonly activeJobs: readonly { readonly id: number; readonly type: string }[],
  ) {
    super(`Resource is being used by running jobs: ${names}.`);
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
/** A service the request depends on is away; the client may try again. */
export class Unavailable extends DomainError {
  constructor(
    readonly retryAfterSeconds = 5,
    /** Replaces the general sentence where it can be said what takes so long. */
    readonly detail?: string,
  ) {
    super(detail ?? 'unavailable');
  }
}
