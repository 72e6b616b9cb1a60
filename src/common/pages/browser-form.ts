import type { NextFunction, Request, Response } from 'express';
import { cookiesOf, CSRF_COOKIE, SESSION_COOKIE } from '../http/cookies.js';
import { assertCsrf, assertSameSite, CSRF_FIELD } from '../http/csrf.js';

/** Form fields that steer a page's form and are no part of what is sent. */
const METHOD_FIELD = '_method';
const CONTENT_FIELD = '_content';

/** What a person sent from a form of a page, as it was typed. */
export interface Submission {
  /** Values by field name, for showing the form again. */
  values: Readonly<Record<string, unknown>>;
  /** Text of the raw form, or null for a form of fields. */
  raw: string | null;
}

const submissions = new WeakMap<object, Submission>();

/** The form of a page that a request carries, or undefined for any other client. */
export const submissionOf = (request: object): Submission | undefined => submissions.get(request);

const OVERRIDES = new Set(['PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Recognises the forms of our own pages: urlencoded, from a browser session, with a valid CSRF
 * token. HTML forms can only GET and POST, so `_method` in such a form, and only there, stands for
 * the method that is meant. No other client has method overriding (docs/contract/pages.md).
 *
 * @throws Forbidden for a form of a session without a valid token or from another site
 */
export function browserForms(request: Request, _response: Response, next: NextFunction): void {
  const body = request.body as Record<string, unknown> | undefined;
  const cookies = cookiesOf(request.headers.cookie);
  const isForm =
    request.method === 'POST' &&
    request.is('application/x-www-form-urlencoded') !== false &&
    request.headers.authorization === undefined &&
    cookies[SESSION_COOKIE] !== undefined;
  if (!isForm || !body || Buffer.isBuffer(body) || !(CSRF_FIELD in body || METHOD_FIELD in body)) {
    next();
    return;
  }
  const sent = body[CSRF_FIELD];
  assertCsrf(cookies[CSRF_COOKIE], typeof sent === 'string' ? sent : undefined);
  assertSameSite(request.headers);
  const { [METHOD_FIELD]: method, [CONTENT_FIELD]: content, ...values } = body;
  submissions.set(request, {
    values,
    raw: typeof content === 'string' ? content : null,
  });
  if (typeof method === 'string' && OVERRIDES.has(method)) request.method = method;
  next();
}
