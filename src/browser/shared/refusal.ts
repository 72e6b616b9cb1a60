import { createHmac } from 'node:crypto';
import type { Response } from 'express';
import { constantTimeEqual } from '../../common/crypto/constant-time.js';
import { cookiesOf, privateCookie, sessionOf, type Cookies } from '../../common/http/cookies.js';
import { parseJson } from '../../common/fields/json-bounds.js';
import { listOf, isRecord } from '../../common/records.js';
import { messagesOf } from './form-errors.js';
import { html, type HtmlValue } from './html.js';

/** Errors of a form in a card, shown in the card. */
export interface FormRefusal {
  /** Id of the card, from the fragment of the return path. */
  card: string;
  /** Path that the form was sent to. */
  path: string;
  /** Submitted id of the selected object. */
  chosen: string;
  messages: readonly string[];
}

/** A form of a card, and the error response to it. */
interface RefusedForm {
  returnTo: string;
  path: string;
  chosen: unknown;
  body: Readonly<Record<string, unknown>>;
}

const COOKIE = 'refusal';
const SECONDS = 30;
/** Limits that keep the cookie below the 4,096 bytes that browsers store. */
const MAX_MESSAGES = 3;
const MAX_MESSAGE = 300;

/** Signs the text with the session cookie, so that another site cannot inject text into a page. */
const signatureOf = (session: string, text: string): string =>
  createHmac('sha256', session).update(`${COOKIE}.${text}`).digest('hex');

/** Stores the errors in a cookie for the page with the form. Pages below receive the cookie, but ignore it. */
export function storeRefusal(
  request: Cookies,
  response: Response,
  { returnTo, path, chosen, body }: RefusedForm,
): void {
  const [target = '/', card = ''] = returnTo.split('#');
  const [page = '/'] = target.split('?');
  const messages = Object.values(body).flatMap(messagesOf).slice(0, MAX_MESSAGES);
  const shown = messages.map((message) => message.slice(0, MAX_MESSAGE));
  const refusal: FormRefusal = { card, path, chosen: String(chosen).slice(0, 20), messages: shown };
  const text = Buffer.from(JSON.stringify({ ...refusal, page })).toString('base64url');
  response.cookie(COOKIE, `${signatureOf(sessionOf(request) ?? '', text)}.${text}`, {
    ...privateCookie(request, SECONDS),
    path: page,
  });
}

/** Returns the stored errors for the page, and clears their cookie. */
export function takeRefusal(
  request: Cookies & { path: string },
  response: Response,
): FormRefusal | null {
  const [signature = '', text = ''] = (cookiesOf(request.headers.cookie)[COOKIE] ?? '').split('.');
  const session = sessionOf(request);
  if (text === '' || session === undefined) return null;
  if (!constantTimeEqual(signatureOf(session, text), signature)) return null;
  const value: unknown = parseJson(Buffer.from(text, 'base64url').toString());
  if (!isRecord(value) || value.page !== request.path) return null;
  response.clearCookie(COOKIE, { path: request.path });
  return {
    card: String(value.card),
    path: String(value.path),
    chosen: String(value.chosen),
    messages: listOf(value.messages).map(String),
  };
}

/** Renders the errors in the card whose form was rejected. */
export const refusalView = (refusal: FormRefusal | null, card: string): HtmlValue =>
  refusal?.card === card &&
  html`<div class="message error" role="alert">
    ${refusal.messages.map((message) => html`<p>${message}</p>`)}
  </div>`;
