import {
  Catch,
  HttpException,
  Logger,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  BROKEN_REFERENCE,
  isStatementTimeout,
  isTransient,
  sqlState,
  UNIQUE_VIOLATION,
} from '../../database/sql-state.js';
import { UnsealError } from '../crypto/secret-box.js';
import { VariablesError } from '../fields/variables.js';
import { memberOf } from '../records.js';
import { brokenReference } from '../resource/declared-references.js';
import {
  BadFields,
  BadRequest,
  Conflict,
  type FieldErrors,
  Forbidden,
  Invalid,
  messageOf,
  MethodNotAllowed,
  NotAcceptable,
  NotFound,
  PayloadTooLarge,
  stackOf,
  TooManyRequests,
  Unauthenticated,
  Unavailable,
  UnsupportedMediaType,
} from '../errors/errors.js';
import type { ApiRequest } from '../http/request.js';
import { currentScope } from '../http/request-scope.js';
import { SecurityEvents } from './security-events.service.js';

/** Renders errors in another format than JSON for clients that accept that format. */
export abstract class ErrorViews {
  /** @returns true if the response was written; false if the filter must send JSON */
  abstract send(request: ApiRequest, response: Response, rendered: ErrorResponse): Promise<boolean>;
}

export interface ErrorResponse {
  status: number;
  body: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Field errors that an HTML form shows instead of the body. */
  formErrors?: FieldErrors;
  /** Page to which a browser is redirected instead of the error page. */
  redirectTo?: string | undefined;
}

const detail = (
  status: number,
  text: string,
  headers: Record<string, string> = {},
): ErrorResponse => ({ status, body: { detail: text }, headers });

const UNAUTHENTICATED =
  'Authentication credentials were not provided. To establish a login session, visit /api/login/.';
/** Text of a refusal whose only reason is that the caller has no role. */
export const FORBIDDEN = 'You do not have permission to perform this action.';
const CHALLENGE = 'Bearer realm=api authorization_url=/api/v2/tokens/';
const TEMPORARY = 'The service is temporarily unavailable. Try again.';

/** Returns true for the error of a stored value that cannot be decrypted or parsed. */
const isUnreadable = (error: unknown): error is Error =>
  error instanceof UnsealError || error instanceof VariablesError;

/**
 * Maps an error to its status and body. No other code does this (docs/contract/conventions.md#errors).
 */
export function errorResponseOf(error: unknown): ErrorResponse {
  if (error instanceof Invalid) return { status: 400, body: error.errors };
  if (error instanceof BadFields) return { ...detail(400, error.detail), formErrors: error.inForm };
  if (error instanceof BadRequest) return withFurtherMembers(400, error);
  if (isUnreadable(error)) return detail(400, error.message);
  if (error instanceof Unauthenticated) {
    return detail(401, error.message || UNAUTHENTICATED, { 'WWW-Authenticate': CHALLENGE });
  }
  if (error instanceof Forbidden) {
    return { ...detail(403, error.detail ?? FORBIDDEN), redirectTo: error.page };
  }
  if (error instanceof NotFound) return detail(404, error.detail);
  if (error instanceof MethodNotAllowed) {
    return detail(405, error.detail ?? `Method "${error.method}" not allowed.`);
  }
  if (error instanceof NotAcceptable) {
    return detail(406, 'Could not satisfy the request Accept header.');
  }
  if (error instanceof Conflict) return withFurtherMembers(409, error);
  if (error instanceof PayloadTooLarge) {
    return detail(413, `The request body is larger than ${error.limitBytes} bytes.`);
  }
  if (error instanceof UnsupportedMediaType) {
    return detail(
      415,
      error.detail ??
        'The Content-Type must be application/json, application/x-www-form-urlencoded or multipart/form-data.',
    );
  }
  if (error instanceof TooManyRequests) {
    const seconds = error.retryAfterSeconds;
    return detail(429, `Request was throttled. Expected available in ${seconds} seconds.`, {
      'Retry-After': String(seconds),
    });
  }
  if (error instanceof Unavailable) return unavailable(error);
  return databaseErrorResponse(error) ?? frameworkErrorResponse(error);
}

const withFurtherMembers = (status: number, error: BadRequest | Conflict): ErrorResponse => ({
  status,
  body: { detail: error.detail, ...error.further },
});

const unavailable = (error: Unavailable): ErrorResponse =>
  detail(503, error.detail ?? TEMPORARY, { 'Retry-After': String(error.retryAfterSeconds) });

/**
 * Maps database errors that the request's data caused to 400 or 409, and failures of the database itself
 * to 503. The response never contains the database's error text.
 */
function databaseErrorResponse(error: unknown): ErrorResponse | null {
  const state = sqlState(error);
  if (state === '2201B') return detail(400, 'The regular expression is not valid.');
  if (isStatementTimeout(error))
    return detail(503, 'The request took too long.', { 'Retry-After': '5' });
  if (state === UNIQUE_VIOLATION) return detail(409, 'Another request made a conflicting change.');
  if (state === BROKEN_REFERENCE) return detail(409, brokenReference(error));
  if (['22P02', '22003', '22021', '22P05', '22007', '22008'].includes(state)) {
    return detail(400, 'A value of the request cannot be used.');
  }
  return isTransient(error) ? unavailable(new Unavailable()) : null;
}

function frameworkErrorResponse(error: unknown): ErrorResponse {
  const status =
    error instanceof HttpException ? error.getStatus() : Number(memberOf(error, 'status') ?? 500);
  if (status === 404) return detail(404, 'The requested resource could not be found.');
  if (status >= 400 && status < 500) {
    return detail(status, 'The request could not be understood by the server.');
  }
  return detail(500, 'A server error has occurred.');
}

/**
 * Returns the log entry of an error, or null if nothing is logged. A temporary failure (503) is logged as
 * a warning with its message, without a stack trace.
 */
export function logEntryOf(
  error: unknown,
  status: number,
): { level: 'warn' | 'error'; message: string; error: string } | null {
  if (status < 500) return null;
  return status === 503
    ? { level: 'warn', message: 'request failed temporarily', error: messageOf(error) }
    : { level: 'error', message: 'request failed', error: stackOf(error) };
}

/** Handles everything that a handler, guard or middleware throws. */
@Catch()
export class ErrorsFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  constructor(
    private readonly views: ErrorViews,
    private readonly events: SecurityEvents,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<ApiRequest>();
    const response = host.switchToHttp().getResponse<Response>();
    const rendered = errorResponseOf(error);
    this.events.recordRefusal(error, request);
    this.log(error, rendered.status, request);
    if (response.headersSent) {
      response.end();
      return;
    }
    for (const [name, value] of Object.entries(rendered.headers ?? {})) {
      response.setHeader(name, value);
    }
    const sendJson = (): void => {
      if (!response.headersSent) response.status(rendered.status).json(rendered.body);
    };
    this.views.send(request, response, rendered).then(
      (sent) => {
        if (!sent) sendJson();
      },
      (failure: unknown) => {
        this.logger.error({ message: 'error page failed', error: String(failure) });
        sendJson();
      },
    );
  }

  private log(error: unknown, status: number, { method, path }: Request): void {
    const entry = logEntryOf(error, status);
    if (!entry) return;
    const { level, ...texts } = entry;
    this.logger[level]({ ...texts, requestId: currentScope()?.requestId, method, path, status });
  }
}
