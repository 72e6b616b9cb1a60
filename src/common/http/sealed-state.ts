import type { Response } from 'express';
import { SecretBox, UnsealError } from '../crypto/secret-box.js';
import { resultOr } from '../errors/errors.js';
import { parseJson } from '../fields/json-bounds.js';
import { isRecord } from '../records.js';
import { cookiesOf, hostCookieName, type Cookies } from './cookies.js';

type State = Readonly<Record<string, unknown>>;

/** Seals state that a browser keeps for a limited time. The sealed state opens only for its context. */
export const sealState = (
  box: SecretBox,
  context: readonly unknown[],
  state: object,
  lifetimeMs: number,
): string =>
  box.seal(JSON.stringify({ ...state, until: Date.now() + lifetimeMs }), JSON.stringify(context));

/** Returns sealed state; null if it is too old, changed, or sealed for another context. */
export function openState(
  box: SecretBox,
  context: readonly unknown[],
  sealed: unknown,
): State | null {
  if (typeof sealed !== 'string') return null;
  const text = resultOr(() => box.open(sealed, JSON.stringify(context)), null, UnsealError);
  const state = text && parseJson(text);
  return isRecord(state) && Number(state.until) >= Date.now() ? state : null;
}

const optionsOf = ({ secure }: Pick<Cookies, 'secure'>) =>
  ({ httpOnly: true, sameSite: 'lax', secure, path: '/', encode: String }) as const;

/** Returns the value of a cookie with sealed state. */
export const sealedCookie = (request: Cookies, name: string): string | undefined =>
  cookiesOf(request.headers.cookie)[hostCookieName(request, name)];

/** Sets a cookie with sealed state, which scripts cannot read. */
export function setSealedCookie(
  response: Response,
  name: string,
  sealed: string,
  lifetimeMs: number,
): void {
  const { req: request } = response;
  const options = { ...optionsOf(request), maxAge: lifetimeMs };
  response.cookie(hostCookieName(request, name), sealed, options);
}

export function clearSealedCookie(response: Response, name: string): void {
  const { req: request } = response;
  response.clearCookie(hostCookieName(request, name), optionsOf(request));
}
