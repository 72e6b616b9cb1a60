import type { Request, Response } from 'express';

export const SESSION_COOKIE = 'controller_session';
/** Name and use as the clients know them (docs/contract/access.md#sessions). */
export const CSRF_COOKIE = 'csrftoken';

/** The cookies of a request; of one sent twice the first counts. */
export function cookiesOf(header: string | string[] | undefined): Record<string, string> {
  const cookies: Record<string, string> = Object.create(null);
  for (const part of String(header ?? '').split(';')) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    cookies[name] ??= part.slice(equals + 1).trim();
  }
  return cookies;
}

/** Session cookie: not readable by scripts. */
export function setSessionCookie(
  request: Pick<Request, 'secure'>,
  response: Response,
  value: string,
  maxAgeSeconds: number,
): void {
  response.cookie(SESSION_COOKIE, value, {
    httpOnly: true,
    sameSite: 'lax',
    secure: request.secure,
    path: '/',
    maxAge: maxAgeSeconds * 1000,
  });
}

/** CSRF cookie: read by our scripts and by the command-line client, so not HttpOnly. */
export function setCsrfCookie(
  request: Pick<Request, 'secure'>,
  response: Response,
  value: string,
): void {
  response.cookie(CSRF_COOKIE, value, { sameSite: 'lax', secure: request.secure, path: '/' });
}
