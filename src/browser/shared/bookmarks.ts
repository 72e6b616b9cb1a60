import type { Response } from 'express';
import type { PlainRequest } from '../../common/http/request.js';
import { cookiesOf, privateCookie } from '../../common/http/cookies.js';
import type { QueryParameters } from '../../common/list/query.js';

/** An object that the user starred or viewed. */
export interface Bookmark {
  type: string;
  id: number;
}

/** Cookies with the bookmarks of a user (docs/decisions/0092-starred-and-recent.md). */
const COOKIES = {
  starred: { max: 24, seconds: 31_536_000 },
  recent: { max: 8, seconds: 2_592_000 },
} as const;
export type BookmarkKind = keyof typeof COOKIES;

/** Query parameter of the star button. The value contains the user and the object: `5.team-7`. */
export const STAR = '_star';
const MARK = /^([a-z][a-z0-9_]{0,40})-([1-9]\d{0,15})$/;

const read = (texts: readonly string[]): Bookmark[] =>
  texts.flatMap((text) => {
    const [, type, id] = MARK.exec(text) ?? [];
    return type === undefined ? [] : [{ type, id: Number(id) }];
  });

const isSame = (first: Bookmark, second: Bookmark): boolean =>
  first.type === second.type && first.id === second.id;

type CookieRequest = Pick<PlainRequest, 'headers' | 'secure'>;

/** Returns the bookmarks of a user in this browser, newest first. */
export function bookmarksOf(request: CookieRequest, kind: BookmarkKind, user: number): Bookmark[] {
  const [owner, ...marks] = (cookiesOf(request.headers.cookie)[kind] ?? '').split('.');
  // The cookie belongs to one user; other users of the browser get no bookmarks.
  return owner === String(user) ? read(marks).slice(0, COOKIES[kind].max) : [];
}

function store(
  request: CookieRequest,
  response: Response,
  { kind, user, marks }: { kind: BookmarkKind; user: number; marks: readonly Bookmark[] },
): void {
  const { max, seconds } = COOKIES[kind];
  const texts = marks.slice(0, max).map(({ type, id }) => `${type}-${id}`);
  response.cookie(kind, [String(user), ...texts].join('.'), privateCookie(request, seconds));
}

/** Puts a viewed object first in the list of recently viewed objects. */
export function remember(
  request: CookieRequest,
  response: Response,
  user: number,
  mark: Bookmark,
): void {
  const known = bookmarksOf(request, 'recent', user);
  if (known[0] && isSame(known[0], mark)) return;
  const marks = [mark, ...known.filter((entry) => !isSame(entry, mark))];
  store(request, response, { kind: 'recent', user, marks });
}

/** Returns true if the star button sent the request. */
export const isStarring = (query: QueryParameters): boolean => STAR in query;

/** Stars an object, or removes its star. */
export function toggleStar(request: PlainRequest, response: Response): void {
  const [owner = '', text = ''] = String([request.query[STAR]].flat()[0] ?? '').split('.');
  const [mark] = read([text]);
  const user = Number(owner);
  if (!mark || !/^\d{1,10}$/.test(owner)) return;
  const known = bookmarksOf(request, 'starred', user);
  const others = known.filter((entry) => !isSame(entry, mark));
  const marks = others.length < known.length ? others : [mark, ...known];
  store(request, response, { kind: 'starred', user, marks });
}

/** Returns true if the user starred the object. */
export const isStarred = (request: CookieRequest, user: number, mark: Bookmark): boolean =>
  bookmarksOf(request, 'starred', user).some((entry) => isSame(entry, mark));
