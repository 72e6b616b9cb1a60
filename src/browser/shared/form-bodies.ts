import type { Request, RequestHandler, Response } from 'express';
import { cookiesOf, CSRF_COOKIE, sessionOf } from '../../common/http/cookies.js';
import { ANONYMOUS_LIMIT, type RequestBodies } from '../../common/http/request-bodies.service.js';

/**
 * Reads the forms of pages before authentication, because a form contains its method and its CSRF
 * token, and a form of an expired session is restored after the login. Other bodies, and requests
 * without a cookie of this server, are read after the guards
 * (docs/contract/conventions.md#order-of-checks).
 *
 * @param isActive returns true for the cookie value of an active session
 */
export function formBodies(
  bodies: RequestBodies,
  isActive: (session: string) => Promise<boolean>,
): RequestHandler {
  const read = async (request: Request, response: Response): Promise<void> => {
    const session = sessionOf(request);
    if (session === undefined && !cookiesOf(request.headers.cookie)[CSRF_COOKIE]) return;
    // Chunked requests do not declare their length.
    const length = Number(request.headers['content-length'] ?? Infinity);
    const hasUser = length > ANONYMOUS_LIMIT && session !== undefined && (await isActive(session));
    // Larger forms are read only for active sessions.
    if (length > ANONYMOUS_LIMIT && !hasUser) return;
    await bodies.readEarly(request, response, hasUser);
  };
  return (request, response, next) => {
    if (!mayBeForm(request)) return next();
    read(request, response).then(() => next(), next);
  };
}

/** Returns true for an unread urlencoded form without an `Authorization` header. */
const mayBeForm = (request: Request): boolean =>
  request.body === undefined &&
  request.headers.authorization === undefined &&
  Boolean(request.is('application/x-www-form-urlencoded'));
