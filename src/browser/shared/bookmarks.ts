import type { Response } from 'express';
import type { PlainRequest } from '../../common/http/request.js';
import { cookiesOf } from '../../common/http/cookies.js';
import type { QueryParameters } from '../../common/list/query.js';

/** An object that the user starred or viewed. */
export interface Bookmark {
  type: string;
  id: number;
}

/** The bookmarks of one user in a browser (docs/decisions/0092-starred-and-recent.md). */
const COOKIES = {
  starred: { most: 24, seconds: 31_536_000 },
  recent: { most: 8, seconds: 2_592_000 },
} as const;
export type BookmarkKind = keyof typeof COOKIES;

/** The parameter of the button that stars an object, or takes the star off: `5.team-7`. */
export const STAR = '_star';
const MARK = /^([a-z][a-z0-9_]{0,40})-([1-9]\d{0,15})$/;

const read = (texts: readonly string[]): Bookmark[] =>
  texts.flatMap((text) => {
    const [, type, id] = MARK.exec(text) ?? [];
    return type === undefined ? [] : [{ type, id: Number(id) }];
  });

const isSame = (one: Bookmark, other: Bookmark): boolean =>
  one.type === other.type && one.id === other.id;

type CookieRequest = Pick<PlainRequest, 'headers' | 'secure'>;

/** The objects that a browser keeps for a user, the latest first. */
export function bookmarksOf(request: CookieRequest, kind: BookmarkKind, user: number): Bookmark[] {
  const [owner, ...marks] = (cookiesOf(request.headers.cookie)[kind] ?? '').split('.');
  // Each user of a browser has their own bookmarks.
  return owner === String(user) ? read(marks).slice(0, COOKIES[kind].most) : [];
}

function keep(
  request: CookieRequest,
  response: Response,
  { kind, user, marks }: { kind: BookmarkKind; user: number; marks: readonly Bookmark[] },
): void {
  const { most, seconds } = COOKIES[kind];
  const texts = marks.slice(0, most).map(({ type, id }) => `${type}-${id}`);
  response.cookie(kind, [String(user), ...texts].join('.'), {
    httpOnly: true,
    sameSite: 'lax',
    secure: request.secure,
    path: '/',
    maxAge: seconds * 1000,
  });
}

/** Puts an object that is looked at before those that were. */
export function remember(
  request: CookieRequest,
  response: Response,
  user: number,
  mark: Bookmark,
): void {
  const known = bookmarksOf(request, 'recent', user);
  if (known[0] && isSame(known[0], mark)) return;
  const marks = [mark, ...known.filter((one) => !isSame(one, mark))];
  keep(request, response, { kind: 'recent', user, marks });
}

/** Returns true when the star button sent the request. */
export const isStarring = (query: QueryParameters): boolean => STAR in query;

/** Stars an object that has no star, and takes it off one that has. */
export function toggleStar(request: PlainRequest, response: Response): void {
  const [owner = '', text = ''] = String([request.query[STAR]].flat()[0] ?? '').split('.');
  const [mark] = read([text]);
  const user = Number(owner);
  if (!mark || !/^\d{1,10}$/.test(owner)) return;
  const known = bookmarksOf(request, 'starred', user);
  const others = known.filter((one) => !isSame(one, mark));
  const marks = others.length < known.length ? others : [mark, ...known];
  keep(request, response, { kind: 'starred', user, marks });
}

/** Returns true when the user starred the object. */
export const isStarred = (request: CookieRequest, user: number, mark: Bookmark): boolean =>
  bookmarksOf(request, 'starred', user).some((one) => isSame(one, mark));
