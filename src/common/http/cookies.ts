import type { Request, Response } from 'express';
import { bareRecord } from '../records.js';

export const SESSION_COOKIE = 'controller_session';

/** Parts of a request that determine cookies: the headers, and whether the request used https. */
export type Cookies = Pick<Request, 'headers' | 'secure'>;

/**
 * Returns the name of a cookie that another host of the domain cannot replace: with https, browsers accept
 * the `__Host-` prefix from this host only.
 */
export const hostCookieName = ({ secure }: Pick<Request, 'secure'>, name: string): string =>
  secure ? `__Host-${name}` : name;

/** Returns the name of the session cookie. */
export const sessionCookieName = (request: Pick<Request, 'secure'>): string =>
  hostCookieName(request, SESSION_COOKIE);

/** Returns the session in the request's cookie, without verifying that the session exists. */
export const sessionOf = (request: Cookies): string | undefined =>
  cookiesOf(request.headers.cookie)[sessionCookieName(request)];

/** CSRF cookie, with the name and use that clients expect (docs/contract/access.md#sessions). */
export const CSRF_COOKIE = 'csrftoken';

/** Returns the cookies of a request. The first of several cookies with one name counts. */
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
 * Cookie that shows the existence of a session to client scripts, which cannot read the session cookie.
 * The cookie has no effect on authentication.
 */
const LOGGED_IN_COOKIE = 'userLoggedIn';

/** Returns the options of a cookie that scripts cannot read. */
export const privateCookie = ({ secure }: Pick<Request, 'secure'>, seconds: number) =>
  ({ httpOnly: true, sameSite: 'lax', secure, path: '/', maxAge: seconds * 1000 }) as const;

/** Sets the session cookie, which scripts cannot read, and `userLoggedIn`. */
export function setSessionCookie(
  request: Pick<Request, 'secure'>,
  response: Response,
  value: string,
  maxAgeSeconds: number,
): void {
  const options = privateCookie(request, maxAgeSeconds);
  response.cookie(sessionCookieName(request), value, options);
  response.cookie(LOGGED_IN_COOKIE, 'true', { ...options, httpOnly: false });
}

/** Deletes the session cookie and `userLoggedIn`. Browsers accept the `__Host-` prefix with https only. */
export function clearSessionCookie(response: Response): void {
  const { req: request } = response;
  const options = { path: '/', secure: request.secure };
  response.clearCookie(sessionCookieName(request), options);
  response.clearCookie(LOGGED_IN_COOKIE, options);
}

/** Sets the CSRF cookie. Scripts and the command-line client read it, so it is not HttpOnly. */
export function setCsrfCookie(
  request: Pick<Request, 'secure'>,
  response: Response,
  value: string,
): void {
  response.cookie(CSRF_COOKIE, value, { sameSite: 'lax', secure: request.secure, path: '/' });
}
