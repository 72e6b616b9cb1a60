import type { NextFunction, Response } from 'express';
import { sessionOf } from '../../common/http/cookies.js';
import { assertCsrf, assertSameSite, CSRF_FIELD } from '../../common/http/csrf.js';
import { Forbidden } from '../../common/errors/errors.js';
import type { PlainRequest } from '../../common/http/request.js';
import { isRecord, memberOf } from '../../common/records.js';
import { readPending, type PendingForm } from './pending-form.js';

/** Form fields that steer a page's form and are no part of what is sent. */
const METHOD_FIELD = '_method';
const CONTENT_FIELD = '_content';
/** Field of the preview button: the form is shown again, and no route is called. */
export const LOOK_FIELD = '_look';
/** Names a field of the form that holds a secret. */
export const SECRET_FIELD = '_secret';
/** Where a form leads once it is done, for forms that stand on another page than their URL's. */
export const RETURN_FIELD = '_return';
/** Field of a form of choices: a refusal leads back to the page, which shows it in the form's card. */
export const TOLD_THERE_FIELD = '_told_there';
/** Field with the path that a form is sent to, where the user chooses it, such as a role's user. */
export const PATH_FIELD = '_path';
/** Holds a form that is shown again after a login. */
export const RESUME_FIELD = '_resume';

/** The values of a form of a page, as typed. */
export interface Submission {
  /** Values by field name, for showing the form again. */
  values: Readonly<Record<string, unknown>>;
  /** Text of the raw form, or null for a form of fields. */
  raw: string | null;
  /** Names of the fields that hold secrets. */
  secrets: readonly string[];
  /** Path of ours that the form leads to when it is done. */
  returnTo?: string;
  /** A refusal is told where the form stands. */
  isToldThere?: boolean;
  /** Sent to be looked at: the route does not hear of it. */
  isLook?: boolean;
}

const submissions = new WeakMap<object, Submission>();

/** The form of a page that a request carries, or undefined for any other client. */
export const submissionOf = (request: object): Submission | undefined => submissions.get(request);

const resumed = new WeakMap<object, PendingForm>();

/** The form that a page is to show as it was filled in before a login. */
export const resumedForm = (request: object): PendingForm | undefined => resumed.get(request);

const OVERRIDES = new Set(['PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Recognises the forms of our own pages: urlencoded, with a valid CSRF token, of a browser session
 * or of one that has ended. HTML forms can only GET and POST, so `_method` in such a form, and only
 * there, stands for the method that is meant, and `_path` for the list that is (docs/decisions/
 * 0093-page-forms.md). No other client has overriding (docs/contract/pages.md).
 *
 * @throws Forbidden for a form of a session without a valid token or from another site
 */
export function browserForms(request: PlainRequest, _response: Response, next: NextFunction): void {
  const { body } = request;
  const isForm =
    request.method === 'POST' &&
    request.is('application/x-www-form-urlencoded') !== false &&
    request.headers.authorization === undefined;
  if (
    !isForm ||
    !isRecord(body) ||
    Buffer.isBuffer(body) ||
    !(CSRF_FIELD in body || METHOD_FIELD in body)
  ) {
    next();
    return;
  }
  // After the end of a session the form counts only with a valid token.
  if (sessionOf(request) === undefined && !isOurs(request)) {
    next();
    return;
  }
  assertOurs(request);
  const pending = readPending(body[RESUME_FIELD]);
  if (pending) {
    resumed.set(request, pending);
    request.method = 'GET';
    request.body = {};
    next();
    return;
  }
  const {
    [METHOD_FIELD]: method,
    [CONTENT_FIELD]: content,
    [SECRET_FIELD]: secrets,
    [RETURN_FIELD]: returnTo,
    [PATH_FIELD]: path,
    [LOOK_FIELD]: look,
    [TOLD_THERE_FIELD]: toldThere,
    ...values
  } = body;
  submissions.set(request, {
    values,
    raw: typeof content === 'string' ? content : null,
    secrets: [secrets ?? []].flat().map(String),
    ...(isOwnPath(returnTo) ? { returnTo } : {}),
    ...(toldThere === undefined ? {} : { isToldThere: true }),
    ...(look === undefined ? {} : { isLook: true }),
  });
  if (typeof method === 'string' && OVERRIDES.has(method)) request.method = method;
  if (isList(path)) request.url = path;
  next();
}

/** A list below an object, such as the roles of a user. */
const isList = (given: unknown): given is string =>
  typeof given === 'string' && /^\/api\/v2\/[a-z_]+\/\d{1,16}\/[a-z_]+\/$/.test(given);

/** A form never leads to another site. */
const isOwnPath = (given: unknown): given is string =>
  typeof given === 'string' && /^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(given);

/** @throws Forbidden unless a page of ours made the form */
function assertOurs(request: PlainRequest): void {
  assertCsrf(request, memberOf(request.body, CSRF_FIELD));
  assertSameSite(request);
}

function isOurs(request: PlainRequest): boolean {
  try {
    assertOurs(request);
    return true;
  } catch (error) {
    if (error instanceof Forbidden) return false;
    throw error;
  }
}
