import type { Request, RequestHandler, Response } from 'express';
import { cookiesOf, CSRF_COOKIE, sessionOf } from '../../common/http/cookies.js';
import { STRANGER_LIMIT, type RequestBodies } from '../../common/http/request-bodies.service.js';

/**
 * Reads forms of pages before anybody is known: their method and their CSRF token stand in them, and
 * one whose session has ended is shown again behind the login. Other bodies have to wait for the
 * guards (docs/contract/conventions.md#order-of-checks), and so does whatever has no cookie of ours.
 *
 * @param isOpen whether a session, by the value of its cookie, has not ended
 */
export function formBodies(
  bodies: RequestBodies,
  isOpen: (session: string) => Promise<boolean>,
): RequestHandler {
  const read = async (request: Request, response: Response): Promise<void> => {
    const session = sessionOf(request);
    if (session === undefined && !cookiesOf(request.headers.cookie)[CSRF_COOKIE]) return;
    // Chunks do not tell how much they will be.
    const length = Number(request.headers['content-length'] ?? Infinity);
    const isKnown = length > STRANGER_LIMIT && session !== undefined && (await isOpen(session));
    // Larger forms are read for open sessions only.
    if (length > STRANGER_LIMIT && !isKnown) return;
    await bodies.readEarly(request, response, isKnown);
  };
  return (request, response, next) => {
    if (!mayBeForm(request)) return next();
    read(request, response).then(() => next(), next);
  };
}

/** A program says who it is in another way than by a cookie. */
const mayBeForm = (request: Request): boolean =>
  request.body === undefined &&
  request.headers.authorization === undefined &&
  Boolean(request.is('application/x-www-form-urlencoded'));
