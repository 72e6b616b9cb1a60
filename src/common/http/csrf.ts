import type { IncomingHttpHeaders } from 'node:http';
import { constantTimeEqual } from '../crypto/constant-time.js';
import { Forbidden } from '../errors/errors.js';

/** Name of the form field that carries the token; scripts send the header `X-CSRFToken`. */
export const CSRF_FIELD = 'csrfmiddlewaretoken';

/** Double submit: the cookie, and the same text where only our own pages can put it. */
export function assertCsrf(cookie: string | undefined, sent: string | undefined): void {
  if (!cookie) throw new Forbidden('CSRF Failed: CSRF cookie not set.', 'csrf');
  if (!sent || !constantTimeEqual(cookie, sent)) {
    throw new Forbidden('CSRF Failed: CSRF token missing or incorrect.', 'csrf');
  }
}

/** A browser tells where a request comes from; another site is refused. */
export function assertSameSite(headers: IncomingHttpHeaders): void {
  const source = headers.origin ?? headers.referer;
  if (typeof source !== 'string' || source === 'null') return;
  const host = URL.canParse(source) ? new URL(source).host : '';
  if (host !== headers.host) {
    throw new Forbidden('CSRF Failed: Origin checking failed.', 'csrf');
  }
}
