import type { NextFunction, Response } from 'express';
import { acceptsHtml } from '../../common/http/negotiation.js';
import type { PlainRequest } from '../../common/http/request.js';
import { LOOKUPS, queryEntries, type QueryParameters } from '../../common/list/query.js';
import { isStarring, STAR, toggleStar } from './bookmarks.js';
import { takeFormParameters } from './form-parameters.js';
import { THEME_COOKIE, THEMES } from './page-context.js';

const YEAR_MS = 31_536_000_000;
/** Fields of the form that adds a filter; converted to the parameter `field__lookup=value`. */
const FILTER_PARTS = ['_field', '_lookup', '_value'] as const;

/**
 * Converts the control parameters of pages to query parameters of the API by a redirect, before
 * other handlers read the query.
 */
export function pageControls(request: PlainRequest, response: Response, next: NextFunction): void {
  const browsing = request.method === 'GET' && acceptsHtml(request);
  if (browsing) takeFormParameters(request);
  const { query } = request;
  const cleaned = browsing ? cleanQuery(query) : null;
  if (cleaned === null) {
    next();
    return;
  }
  if (isStarring(query)) toggleStar(request, response);
  const theme = THEMES.find((known) => known === query._theme);
  if (theme) {
    response.cookie(THEME_COOKIE, theme, {
      sameSite: 'lax',
      secure: request.secure,
      path: '/',
      maxAge: YEAR_MS,
    });
  }
  // A browser reads a path that begins with two slashes as the name of another server.
  response.redirect(303, request.path.replace(/^[/\\]+/, '/') + cleaned);
}

/**
 * Returns the query string without control parameters and empty values, and with the added filter; null if
 * the query contains neither.
 */
export function cleanQuery(query: QueryParameters): string | null {
  const entries = queryEntries(query);
  const controls = new Set<string>(['_theme', STAR, ...FILTER_PARTS]);
  const remaining = entries.filter(([key, value]) => !controls.has(key) && value !== '');
  if (remaining.length === entries.length) return null;
  const added = addedFilter(query);
  // A new filter restarts the list at its first page.
  const isNewList = '_field' in query;
  const search = new URLSearchParams(
    remaining.filter(([key]) => !(isNewList && ['page', 'after'].includes(key))),
  );
  if (added) search.append(...added);
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** Regular expression that matches every text except the empty text; null never matches. */
export const ANYTHING = '.';

function addedFilter(query: QueryParameters): [string, string] | null {
  const [field, lookup, value] = FILTER_PARTS.map((name) => [query[name]].flat()[0] ?? '');
  if (!field || !/^[a-z][a-z0-9_]*$/.test(field)) return null;
  if (lookup === 'empty') return [`not__${field}__regex`, ANYTHING];
  if (lookup === 'not__empty') return [`${field}__regex`, ANYTHING];
  if (!value) return null;
  if (!lookup || lookup === 'exact') return [field, value];
  const negated = lookup.startsWith('not__');
  const comparison = negated ? lookup.slice('not__'.length) : lookup;
  if (!LOOKUPS.has(comparison)) return null;
  const key = comparison === 'exact' ? field : `${field}__${comparison}`;
  return [negated ? `not__${key}` : key, value];
}
