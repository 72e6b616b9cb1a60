import { OutboundError } from './outbound-error.js';

const KEEPS_METHOD: ReadonlySet<number> = new Set([301, 307, 308]);
const MAY_DROP_BODY: ReadonlySet<number> = new Set([302, 303]);

/** What a caller wants done with 3xx answers; `none` hands them back as they are. */
export type RedirectMode = 'same-host' | 'none';

/**
 * Where a redirect leads, or null when the answer is none.
 *
 * 301, 307 and 308 keep method and body (docs/contract/notifications.md#wire-formats). 302 and 303
 * would turn a POST into a GET without body: the delivery would be lost and yet look successful, so
 * they are refused unless the request is a GET or HEAD already. Throws OutboundError `redirect`
 * when the target is missing or another host.
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

/** Same scheme, host and port; the step from http to https of the same host is allowed. */
function isSameHost(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const upgrade = from.protocol === 'http:' && to.protocol === 'https:';
  return upgrade && from.hostname === to.hostname && from.port === to.port;
}
