import type { Response } from 'express';
import type { SecretBox } from '../common/crypto/secret-box.js';
import { cookiesOf, type Cookies } from '../common/http/cookies.js';
import {
  clearSealedCookie,
  openState,
  sealedCookie,
  sealState,
  setSealedCookie,
} from '../common/http/sealed-state.js';
import type { LoginChecks } from './oauth-client.service.js';

/** State of a login that has begun in a browser. */
export interface PendingLogin extends LoginChecks {
  /** Path to redirect to after the login. */
  next: string;
  /** Id of the user that the account is linked to; null for a login. */
  linkTo: number | null;
}

const PREFIX = 'controller_sso_';
const LIFETIME_MS = 600_000;
/** Maximum number of logins that one browser can have begun. */
const MAX = 5;

/** Context that the cookie is sealed for: a cookie of one authenticator does not open for another. */
const contextOf = (slug: string): string[] => ['login', slug];

/** Each login has a cookie of its own, so that several tabs can log in at the same time. */
const nameOf = (state: string): string => `${PREFIX}${state.slice(0, 16)}`;

/** Stores the state of a login in a sealed cookie. Drops the cookies of too many unfinished logins. */
export function setLoginCookie(
  box: SecretBox,
  response: Response,
  { slug, ...login }: PendingLogin & { slug: string },
): void {
  const others = Object.keys(cookiesOf(response.req.headers.cookie)).flatMap(
    (name) => /^(?:__Host-)?(controller_sso_.*)$/.exec(name)?.[1] ?? [],
  );
  if (others.length >= MAX) for (const name of others) clearSealedCookie(response, name);
  const sealed = sealState(box, contextOf(slug), login, LIFETIME_MS);
  setSealedCookie(response, nameOf(login.state), sealed, LIFETIME_MS);
}

/** Returns the login that has the state, and removes its cookie; null if there is none in time. */
export function takeLoginCookie(
  box: SecretBox,
  request: Cookies,
  response: Response,
  { slug, state }: { slug: string; state: string },
): PendingLogin | null {
  const sealed = sealedCookie(request, nameOf(state));
  if (sealed === undefined) return null;
  clearSealedCookie(response, nameOf(state));
  const login = openState(box, contextOf(slug), sealed);
  if (login?.state !== state) return null;
  const { nonce, verifier, next, linkTo } = login;
  return {
    state,
    nonce: String(nonce),
    verifier: String(verifier),
    next: String(next),
    linkTo: typeof linkTo === 'number' ? linkTo : null,
  };
}
