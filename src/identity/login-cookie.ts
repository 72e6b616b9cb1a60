import type { Request, Response } from 'express';
import { SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { parseJson } from '../common/fields/json-bounds.js';
import { cookiesOf, type Cookies } from '../common/http/cookies.js';
import { isRecord } from '../common/records.js';
import type { LoginChecks } from './oauth-client.service.js';

/** State of a login that has begun in a browser. */
export interface BegunLogin extends LoginChecks {
  /** Path to redirect to after the login. */
  next: string;
  /** Id of the user that the account is linked to; null for a login. */
  linkTo: number | null;
}

const PREFIX = 'controller_sso_';
const LIFETIME_MS = 600_000;
/** Maximum number of logins that one browser can have begun. */
const MOST = 5;

/** Context that the cookie is sealed for: a cookie of one authenticator does not open for another. */
const contextOf = (slug: string): string => JSON.stringify(['login', slug]);

/** Each login has a cookie of its own, so that several tabs can log in at the same time. */
const nameOf = ({ secure }: Pick<Request, 'secure'>, state: string): string =>
  `${secure ? '__Host-' : ''}${PREFIX}${state.slice(0, 16)}`;

const optionsOf = ({ secure }: Pick<Request, 'secure'>) =>
  ({ httpOnly: true, sameSite: 'lax', secure, path: '/', encode: String }) as const;

/** Stores the state of a login in a sealed cookie. Drops the cookies of too many unfinished logins. */
export function setLoginCookie(
  box: SecretBox,
  response: Response,
  { slug, ...login }: BegunLogin & { slug: string },
): void {
  const { req: request } = response;
  const others = Object.keys(cookiesOf(request.headers.cookie)).filter((name) =>
    name.includes(PREFIX),
  );
  if (others.length >= MOST) {
    for (const name of others) response.clearCookie(name, optionsOf(request));
  }
  const text = JSON.stringify({ ...login, until: Date.now() + LIFETIME_MS });
  response.cookie(nameOf(request, login.state), box.seal(text, contextOf(slug)), {
    ...optionsOf(request),
    maxAge: LIFETIME_MS,
  });
}

/** Returns the login that has the state, and removes its cookie; null if there is none in time. */
export function takeLoginCookie(
  box: SecretBox,
  request: Cookies,
  response: Response,
  { slug, state }: { slug: string; state: string },
): BegunLogin | null {
  const name = nameOf(request, state);
  const sealed = cookiesOf(request.headers.cookie)[name];
  if (sealed === undefined) return null;
  response.clearCookie(name, optionsOf(request));
  const login = opened(box, sealed, slug);
  if (!isRecord(login) || Number(login.until) < Date.now() || login.state !== state) return null;
  const { nonce, verifier, next, linkTo } = login;
  return {
    state,
    nonce: String(nonce),
    verifier: String(verifier),
    next: String(next),
    linkTo: typeof linkTo === 'number' ? linkTo : null,
  };
}

function opened(box: SecretBox, sealed: string, slug: string): unknown {
  try {
    return parseJson(box.open(sealed, contextOf(slug)));
  } catch (error) {
    if (error instanceof UnsealError) return null;
    throw error;
  }
}
