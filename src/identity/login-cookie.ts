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

/** State of a login while the browser is at the identity provider. */
export interface LoginState extends LoginChecks {
  /** Path to redirect to after the login. */
  next: string;
  /** Id of the user that the account is linked to; null for a login. */
  linkTo: number | null;
}

const PREFIX = 'controller_sso_';
const LIFETIME_MS = 600_000;
/** Maximum number of pending logins of a browser. */
const MAX = 5;

/**
 * Returns the context of the sealed cookie, so that another authenticator cannot open the cookie.
 */
const contextOf = (slug: string): string[] => ['login', slug];

/**
 * Returns the name of the cookie. Each login has its own cookie, so several tabs can log in
 * concurrently.
 */
const nameOf = (state: string): string => `${PREFIX}${state.slice(0, 16)}`;

/**
 * Stores the state of a login in a sealed cookie. Deletes the cookies of too many pending logins.
 */
export function setLoginCookie(
  box: SecretBox,
  response: Response,
  { slug, ...login }: LoginState & { slug: string },
): void {
  const others = Object.keys(cookiesOf(response.req.headers.cookie)).flatMap(
    (name) => /^(?:__Host-)?(controller_sso_[\w-]*)$/.exec(name)?.[1] ?? [],
  );
  if (others.length >= MAX) for (const name of others) clearSealedCookie(response, name);
  const sealed = sealState(box, contextOf(slug), login, LIFETIME_MS);
  setSealedCookie(response, nameOf(login.state), sealed, LIFETIME_MS);
}

/**
 * Returns the pending login with the state, and deletes its cookie; null if none is pending or it
 * expired.
 */
export function takeLoginCookie(
  box: SecretBox,
  request: Cookies,
  response: Response,
  { slug, state }: { slug: string; state: string },
): LoginState | null {
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
