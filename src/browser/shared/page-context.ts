import type { Request, Response } from 'express';
import type { Actor } from '../../common/access.js';
import { cookiesOf, privateCookie } from '../../common/http/cookies.js';
import { formTokenOf, issueCsrfToken } from '../../common/http/csrf.js';
import { queryEntries, type QueryParameters } from '../../common/list/query.js';
import { bookmarksOf, type Bookmark, type BookmarkKind } from './bookmarks.js';
import { formMethodOf, initialValuesOf } from './form-parameters.js';
import { takeRefusal, type FormRefusal } from './refusal.js';

/** Color theme; `auto` follows the preference of the browser. */
export type Theme = 'auto' | 'light' | 'dark';
export const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];
export const THEME_COOKIE = 'theme';
const NOTICE_COOKIE = 'notice';
const NOTICE_SECONDS = 30;
const FIELD_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** Texts of notices. The cookie contains a key and field names, so a forged cookie shows no other text. */
const NOTICES = {
  created: 'Created.',
  saved: 'Saved.',
  deleted: 'Deleted.',
  added: 'Added to the list.',
  removed: 'Removed from the list.',
  done: 'Done.',
  approve: 'Approved.',
  deny: 'Denied.',
  cancel: 'Cancellation requested.',
  // The panels of the page show the result of the run.
  launched: 'Launched.',
} as const;
export type NoticeKey = keyof typeof NOTICES;

export const isNotice = (key: string): key is NoticeKey => Object.hasOwn(NOTICES, key);

/** The result of a form, shown on the next page. */
export interface Notice {
  key: NoticeKey;
  /** Names of the fields that were ignored. */
  ignored: readonly string[];
}

interface ShownNotice {
  text: string;
  ignored: readonly string[];
}

/** The parts of a request that pages use. */
export interface PageContext {
  method: string;
  /** Path with a trailing slash. */
  path: string;
  query: QueryParameters;
  actor: Actor | null;
  csrf: string;
  theme: Theme;
  notice: ShownNotice | null;
  /** Errors of a form in a card of the page. */
  refusal: FormRefusal | null;
  /** Method of the form that the page shows instead of the response; null without a form. */
  form: string | null;
  /** Initial values of the form, by field. */
  initialValues: Readonly<Record<string, string>>;
  /** Bookmarks of the caller in this browser, newest first. */
  bookmarks: Readonly<Record<BookmarkKind, readonly Bookmark[]>>;
  /** Origin such as `https://host`, for commands to copy. */
  origin: string;
}

type PageRequest = Pick<Request, 'method' | 'path' | 'headers' | 'protocol' | 'secure'> & {
  query: QueryParameters;
  actor?: Actor | null;
};

/** Reads the context of a page. Sets a missing CSRF cookie, and clears the cookies of notice and refusal. */
export function openPage(request: PageRequest, response: Response): PageContext {
  const cookies = cookiesOf(request.headers.cookie);
  if (cookies[NOTICE_COOKIE]) response.clearCookie(NOTICE_COOKIE, { path: '/' });
  return {
    method: request.method,
    path: request.path.endsWith('/') ? request.path : `${request.path}/`,
    query: request.query,
    actor: request.actor ?? null,
    csrf: formTokenOf(issueCsrfToken(request, response)),
    theme: THEMES.find((theme) => theme === cookies[THEME_COOKIE]) ?? 'auto',
    notice: readNotice(cookies[NOTICE_COOKIE]),
    refusal: takeRefusal(request, response),
    form: formMethodOf(request),
    initialValues: initialValuesOf(request),
    bookmarks: {
      starred: request.actor ? bookmarksOf(request, 'starred', request.actor.id) : [],
      recent: request.actor ? bookmarksOf(request, 'recent', request.actor.id) : [],
    },
    origin: originOf(request),
  };
}

/** Returns the origin of a request, as the browser sees it. */
export const originOf = ({ protocol, headers }: Pick<Request, 'protocol' | 'headers'>): string =>
  `${protocol}://${headers.host ?? 'localhost'}`;

/** Parses a cookie such as `saved`, or `launched.limit.forks` with ignored fields. */
function readNotice(cookie = ''): ShownNotice | null {
  const [key = '', ...ignored] = cookie.split('.');
  const text = isNotice(key) ? NOTICES[key] : undefined;
  return text ? { text, ignored: ignored.filter((name) => FIELD_NAME.test(name)) } : null;
}

/** Stores a notice in a cookie for the next page. */
export function storeNotice(response: Response, { key, ignored }: Notice): void {
  const options = privateCookie(response.req, NOTICE_SECONDS);
  response.cookie(NOTICE_COOKIE, [key, ...ignored].join('.'), options);
}

/** Returns the query string of a page with replaced parameters; null removes a parameter. */
export function withQuery(
  query: QueryParameters,
  changes: Record<string, string | null> = {},
): string {
  const search = new URLSearchParams(queryEntries(query).filter(([key]) => !(key in changes)));
  for (const [key, value] of Object.entries(changes)) {
    if (value !== null) search.append(key, value);
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
