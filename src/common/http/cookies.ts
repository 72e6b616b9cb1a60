import type { Request, Response } from 'express';

import { bareRecord } from '../records.js';

export const SESSION_COOKIE = 'controller_session';

/** What a request tells of cookies: them, and whether it came by https. */
export type Cookies = Pick<Request, 'headers' | 'secure'>;

/**
 * Name of the session cookie. By https browsers take one of that prefix from this host alone, so that
 * no neighbour in the domain can put a session of his own in its place.
 */
export const sessionCookieName = ({ secure }: Pick<Request, 'secure'>): string =>
  secure ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE;

/** The session that a request names, open or not. */
export const sessionOf = (request: Cookies): string | undefined =>
  cookiesOf(request.headers.cookie)[sessionCookieName(request)];

/** Name and use as the clients know them (docs/contract/access.md#sessions). */
export const CSRF_COOKIE = 'csrftoken';

/** The cookies of a request; of one sent twice the first counts. */
export function cookiesOf(header: string | string[] | undefined): Record<string, string> {
  const cookies = bareRecord<string>();
  for (const part of String(header ?? '').split(';')) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    cookies[name] ??= part.slice(equals + 1).trim();
  }
  return cookies;
}

/**
 * Tells scripts of clients of this kind of API that there is a session, which they cannot read
 * themselves. It proves nothing.
 */
const LOGGED_IN_COOKIE = 'userLoggedIn';

/** Session cookie: not readable by scripts. */
export function setSessionCookie(
  request: Pick<Request, 'secure'>,
  response: Response,
  value: string,
  maxAgeSeconds: number,
): void {
  response.cookie(sessionCookieName(request), value, {
    httpOnly: true,
    sameSite: 'lax',
    secure: request.secure,
    path: '/',
    maxAge: maxAgeSeconds * 1000,
  });
  response.cookie(LOGGED_IN_COOKIE, 'true', {
    sameSite: 'lax',
    secure: request.secure,
    path: '/',
    maxAge: maxAgeSeconds * 1000,
  });
}

/** Takes the session cookie away; one of that prefix goes by https only. */
export function clearSessionCookie(response: Response): void {
  const { req: request } = response;
  const where = { path: '/', secure: request.secure };
  response.clearCookie(sessionCookieName(request), where);
  response.clearCookie(LOGGED_IN_COOKIE, where);
}

/** CSRF cookie: read by our scripts and by the command-line client, so not HttpOnly. */
export function setCsrfCookie(
  request: Pick<Request, 'secure'>,
  response: Response,
  value: string,
): void {
  response.cookie(CSRF_COOKIE, value, { sameSite: 'lax', secure: request.secure, path: '/' });
}
