import type { NextFunction, Response } from 'express';
import { sessionOf } from '../../common/http/cookies.js';
import { assertCsrf, assertSameSite, CSRF_FIELD } from '../../common/http/csrf.js';
import { Forbidden } from '../../common/errors/errors.js';
import type { PlainRequest } from '../../common/http/request.js';
import { isRecord, mapValues, memberOf } from '../../common/records.js';
import { readPending, type PendingForm } from './pending-form.js';

/** Control fields of a form, which are not part of the request body. */
export const METHOD_FIELD = '_method';
export const CONTENT_FIELD = '_content';
/** Field of the preview button, which shows the form again without calling the route. */
export const PREVIEW_FIELD = '_preview';
/** Field whose value is the name of a secret field of the form. */
export const SECRET_FIELD = '_secret';
/** Field with the path to return to, for a form that is not on the page of its URL. */
export const RETURN_FIELD = '_return';
/** Field of a form whose errors are shown on the page that the form returns to. */
export const ERRORS_IN_CARD_FIELD = '_errors_in_card';
/** Field with the request path, for a form whose user selects the object, such as a role's user. */
export const PATH_FIELD = '_path';
/** Field with the entries of lists (`credentials.7`) and the digests of values that the form showed. */
export const SHOWN_FIELD = '_shown';
/** Field with a form that is shown again after a login. */
export const RESUME_FIELD = '_resume';

/** Submitted values of a form of a page. */
export interface Submission {
  /** Values by field name, to show the form again. */
  values: Readonly<Record<string, unknown>>;
  /** Text of the raw form; null for a form with fields. */
  raw: string | null;
  /** Names of the fields that contain secrets. */
  secrets: readonly string[];
  /**
   * Entries of lists and digests of values that the form showed; saving does not remove other entries,
   * and does not change values that are still as shown.
   */
  shown?: readonly string[];
  /** Path on this server to return to after success. */
  returnTo?: string;
  /** True if errors are shown on the page that the form returns to. */
  errorsInCard?: boolean;
  /** True for a preview, which does not call the route. */
  isPreview?: boolean;
  /** True for a form of an earlier session of this browser; the request fails, and shows the form again. */
  isStale?: boolean;
}

const submissions = new WeakMap<object, Submission>();

/** Returns the form of a page in the request; undefined for any other request. */
export const submissionOf = (request: object): Submission | undefined => submissions.get(request);

const resumed = new WeakMap<object, PendingForm>();

/** Returns the form to show again after a login. */
export const resumedForm = (request: object): PendingForm | undefined => resumed.get(request);

const OVERRIDES = new Set(['PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Recognizes forms of this server's pages: urlencoded and with a valid CSRF token; the session can be
 * expired or missing. HTML forms support only GET and POST. Only in these forms, `_method` overrides the
 * method and `_path` overrides the path (docs/decisions/0093-page-forms.md). Other clients cannot override
 * the method (docs/contract/pages.md).
 *
 * @throws Forbidden for a form of a session without a valid token or from another site. A form that the browser
 * attributes to this server belongs to an earlier session; it stays available for the error page.
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
  // Without a session, the form is accepted only with a valid token.
  if (sessionOf(request) === undefined && !isPageForm(request)) {
    next();
    return;
  }
  if (!isPageForm(request)) {
    if (request.headers.origin !== undefined) {
      assertSameSite(request);
      readForm(request, body, { isStale: true });
    }
    assertPageForm(request);
  }
  const pending = readPending(body[RESUME_FIELD]);
  if (pending) {
    resumed.set(request, pending);
    request.method = 'GET';
    request.body = {};
    next();
    return;
  }
  readForm(request, body);
  next();
}

/** Stores the submitted form of a request, and applies its method and path. */
function readForm(
  request: PlainRequest,
  body: Readonly<Record<string, unknown>>,
  state: Pick<Submission, 'isStale'> = {},
): void {
  const {
    [METHOD_FIELD]: method,
    [CONTENT_FIELD]: content,
    [SECRET_FIELD]: secrets,
    [RETURN_FIELD]: returnTo,
    [PATH_FIELD]: path,
    [SHOWN_FIELD]: shown,
    [PREVIEW_FIELD]: preview,
    [ERRORS_IN_CARD_FIELD]: errorsInCard,
    ...values
  } = body;
  submissions.set(request, {
    values: mapValues(values, withLineFeeds),
    raw: typeof content === 'string' ? content : null,
    secrets: [secrets ?? []].flat().map(String),
    ...(shown === undefined ? {} : { shown: [shown].flat().map(String) }),
    ...(isLocalPath(returnTo) ? { returnTo } : {}),
    ...(errorsInCard === undefined ? {} : { errorsInCard: true }),
    ...(preview === undefined ? {} : { isPreview: true }),
    ...state,
  });
  if (typeof method === 'string' && OVERRIDES.has(method)) request.method = method;
  if (isListPath(path)) request.url = path;
}

/** Converts line ends: browsers send CRLF, and a form must not change a text that the user did not edit. */
const withLineFeeds = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withLineFeeds);
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value;
};

/** Returns true for the path of a list below an object, such as the roles of a user. */
const isListPath = (value: unknown): value is string =>
  typeof value === 'string' && /^\/api\/v2\/[a-z_]+\/\d{1,16}\/[a-z_]+\/$/.test(value);

/** Returns true for a path on this server; a form must not redirect to another site. */
export const isLocalPath = (value: unknown): value is string =>
  typeof value === 'string' && /^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(value);

/** @throws Forbidden unless a page of this server sent the form */
function assertPageForm(request: PlainRequest): void {
  assertCsrf(request, memberOf(request.body, CSRF_FIELD));
  assertSameSite(request);
}

function isPageForm(request: PlainRequest): boolean {
  try {
    assertPageForm(request);
    return true;
  } catch (error) {
    if (error instanceof Forbidden) return false;
    throw error;
  }
}
