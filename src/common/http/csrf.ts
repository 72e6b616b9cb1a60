import { createHmac } from 'node:crypto';
import type { Request, Response } from 'express';
import { constantTimeEqual } from '../crypto/constant-time.js';
import { randomAlphanumeric } from '../crypto/random-key.js';
import { Forbidden } from '../errors/errors.js';
import { cookiesOf, CSRF_COOKIE, sessionOf, setCsrfCookie, type Cookies } from './cookies.js';

/** Form field with the token. Scripts send the header `X-CSRFToken` instead. */
export const CSRF_FIELD = 'csrfmiddlewaretoken';

/** Returns the token of a session, which cannot be computed without the session's cookie. */
export const csrfTokenOf = (session: string): string =>
  createHmac('sha256', session).update(CSRF_FIELD).digest('hex');

const NONCE_LENGTH = 16;

/**
 * Returns the token as HTML forms send it: a different text on each page. Pages are compressed, and the
 * length of a compressed page reveals a secret that stays the same (the BREACH attack).
 */
export const formTokenOf = (token: string, nonce = randomAlphanumeric(NONCE_LENGTH)): string =>
  nonce + createHmac('sha256', token).update(nonce).digest('hex');

/** Returns true if the sent text is the token, either plain or as HTML forms send it. */
const isToken = (token: string, sent: string): boolean =>
  constantTimeEqual(token, sent) ||
  constantTimeEqual(formTokenOf(token, sent.slice(0, NONCE_LENGTH)), sent);

/**
 * Returns the token that a client has to send, and sets its cookie if necessary. The token belongs to
 * the session; before a login it is any text that the server has set.
 */
export function issueCsrfToken(request: Cookies, response: Response): string {
  const currentToken = cookiesOf(request.headers.cookie)[CSRF_COOKIE];
  const session = sessionOf(request);
  const token = session ? csrfTokenOf(session) : (currentToken ?? randomAlphanumeric(32));
  if (token !== currentToken) setCsrfCookie(request, response, token);
  return token;
}

/**
 * Verifies the token of the session. Without a session the token is the text of the cookie, which another
 * host of the domain can set. Callers therefore call `assertSameSite`, too.
 *
 * @throws Forbidden
 */
export function assertCsrf(request: Cookies, sent: unknown): void {
  const cookie = cookiesOf(request.headers.cookie)[CSRF_COOKIE];
  if (!cookie) throw new Forbidden('CSRF Failed: CSRF cookie not set.', 'csrf');
  const session = sessionOf(request);
  const expected = session ? csrfTokenOf(session) : cookie;
  if (typeof sent !== 'string' || !isToken(expected, sent)) {
    throw new Forbidden('CSRF Failed: CSRF token missing or incorrect.', 'csrf');
  }
}

/** Rejects requests that the browser attributes to another site or to an opaque origin. */
export function assertSameSite({ headers }: Pick<Request, 'headers'>): void {
  const source = headers.origin ?? headers.referer;
  if (typeof source !== 'string') return;
  const host = URL.canParse(source) ? new URL(source).host : '';
  if (host === '' || host !== headers.host) {
    throw new Forbidden('CSRF Failed: Origin checking failed.', 'csrf');
  }
}
