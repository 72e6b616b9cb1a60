import { OutboundError } from './outbound-error.js';

const KEEPS_METHOD: ReadonlySet<number> = new Set([301, 307, 308]);
const MAY_DROP_BODY: ReadonlySet<number> = new Set([302, 303]);

/** Handling of 3xx responses; `none` returns them unchanged. */
export type RedirectMode = 'same-host' | 'none';

/**
 * Returns the target of a redirect, or null if the response is not a redirect.
 *
 * 301, 307 and 308 keep method and body (docs/contract/notifications.md#wire-formats). 302 and 303 would
 * convert a POST to a GET without a body: the message would be lost and still look successful, so they
 * are rejected unless the request is a GET or HEAD.
 *
 * @throws OutboundError `redirect` if the target is missing or on another host, or would not get the body
 */
export function redirectTarget(
  status: number,
  location: string | undefined,
  from: URL,
  method: string,
): URL | null {
  if (!KEEPS_METHOD.has(status) && !MAY_DROP_BODY.has(status)) return null;
  if (MAY_DROP_BODY.has(status) && method !== 'GET' && method !== 'HEAD') {
    throw new OutboundError(
      'redirect',
      `The redirect ${status} was not followed: it would drop the body of the ${method} request.`,
    );
  }
  if (location === undefined || !URL.canParse(location, from.href)) {
    throw new OutboundError('redirect', `The redirect ${status} names no usable location.`);
  }
  const next = new URL(location, from);
  if (!isSameHost(from, next)) {
    throw new OutboundError('redirect', `The redirect to another host was not followed.`);
  }
  next.username = '';
  next.password = '';
  return next;
}

/**
 * Returns true for the same scheme, host and port. The change from http to https on the same host is
 * permitted.
 */
function isSameHost(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const upgrade = from.protocol === 'http:' && to.protocol === 'https:';
  return upgrade && from.hostname === to.hostname && from.port === to.port;
}
