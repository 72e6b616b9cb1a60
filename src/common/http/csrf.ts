import { createHmac } from 'node:crypto';
import type { Request, Response } from 'express';
import { constantTimeEqual } from '../crypto/constant-time.js';
import { randomAlphanumeric } from '../crypto/random-key.js';
import { Forbidden } from '../errors/errors.js';
import { cookiesOf, CSRF_COOKIE, sessionOf, setCsrfCookie, type Cookies } from './cookies.js';

/** Name of the form field that carries the token; scripts send the header `X-CSRFToken`. */
export const CSRF_FIELD = 'csrfmiddlewaretoken';

/** The token of a session: whoever does not know the session's cookie cannot make one. */
export const csrfTokenOf = (session: string): string =>
  createHmac('sha256', session).update(CSRF_FIELD).digest('hex');

const NONCE_LENGTH = 16;

/**
 * The token as a form carries it: another text on each page. Pages are compressed, and the length of a
 * compressed page tells about a secret that stays the same (the BREACH attack).
 */
export const formTokenOf = (token: string, nonce = randomAlphanumeric(NONCE_LENGTH)): string =>
  nonce + createHmac('sha256', token).update(nonce).digest('hex');

/** Compares what was sent with a token, as it is or as a form carries it. */
const isToken = (token: string, sent: string): boolean =>
  constantTimeEqual(token, sent) ||
  constantTimeEqual(formTokenOf(token, sent.slice(0, NONCE_LENGTH)), sent);

/**
 * The token a client has to send, put into its cookie where it is not there yet: that of its session,
 * or before a login any text of ours.
 */
export function issueCsrfToken(request: Cookies, response: Response): string {
  const present = cookiesOf(request.headers.cookie)[CSRF_COOKIE];
  const session = sessionOf(request);
  const token = session ? csrfTokenOf(session) : (present ?? randomAlphanumeric(32));
  if (token !== present) setCsrfCookie(request, response, token);
  return token;
}

/**
 * What is sent is the token of the session. Without a session it is the text of the cookie, where only
 * our own pages can put it.
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

/** A browser tells where a request comes from; another site, or one that hides, is refused. */
export function assertSameSite({ headers }: Pick<Request, 'headers'>): void {
  const source = headers.origin ?? headers.referer;
  if (typeof source !== 'string') return;
  const host = URL.canParse(source) ? new URL(source).host : '';
  if (host === '' || host !== headers.host) {
    throw new Forbidden('CSRF Failed: Origin checking failed.', 'csrf');
  }
}
