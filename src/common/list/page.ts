import { NotFound } from '../errors/errors.js';
import { toBoolean } from '../fields/lenient-reader.js';
import { queryEntries, valuesOf, type QueryParameters } from './query.js';

export interface PageLimits {
  pageSize: number;
  maxPageSize: number;
}

/** Requested part of a list. */
export type PageRequest =
  | {
      style: 'numbered';
      page: number | 'last';
      size: number;
      sentSize: number | null;
      count: boolean;
      /** Cursor from a `next` link. */
      after: string | null;
    }
  | { style: 'limited'; limit: number };

/** Part of a list, with the request for it. `PaginationInterceptor` converts a page to its envelope. */
export class Page<T = Record<string, unknown>> {
  constructor(
    readonly results: readonly T[],
    readonly request: PageRequest,
    /** Total of all pages, or null if it was not requested. */
    readonly count: number | null,
    readonly number: number,
    readonly hasNext: boolean,
    /** Cursor of the next page, or null. */
    readonly after: string | null = null,
  ) {}
}

const positive = (text: string | undefined): number | null =>
  text !== undefined && /^\d+$/.test(text) && Number(text) > 0 ? Number(text) : null;

/**
 * Reads the paging parameters (docs/contract/lists.md#pages).
 *
 * @param events true for event lists, which support `limit`
 * @throws NotFound for an impossible page
 */
export function parsePage(
  parameters: QueryParameters,
  limits: PageLimits,
  events = false,
): PageRequest {
  const limit = events ? [parameters.limit].flat()[0] : undefined;
  if (limit !== undefined) {
    return {
      style: 'limited',
      limit: Math.min(positive(limit) ?? limits.pageSize, limits.maxPageSize),
    };
  }
  const sent = positive([parameters.page_size].flat().at(-1));
  const sentSize = sent === null ? null : Math.min(sent, limits.maxPageSize);
  const text = valuesOf(parameters.page).at(-1);
  const page = text === undefined ? 1 : text === 'last' ? 'last' : positive(text);
  if (page === null) throw new NotFound('Invalid page.');
  const countDisabled = [parameters.count_disabled].flat().at(-1);
  const disabled = countDisabled === '' || toBoolean(countDisabled) === true;
  return {
    style: 'numbered',
    page,
    size: sentSize ?? limits.pageSize,
    sentSize,
    count: !disabled,
    after: valuesOf(parameters.after).at(-1) ?? null,
  };
}

/** Returns the envelope of a page. Links are paths (docs/contract/conventions.md#links). */
export function envelope(page: Page<unknown>, path: string, query: QueryParameters): object {
  if (page.request.style === 'limited') return { results: page.results };
  const { sentSize } = page.request;
  const link = (number: number, after: string | null): string => {
    const search = new URLSearchParams(
      queryEntries(query).filter(([key]) => !['page', 'page_size', 'after'].includes(key)),
    );
    search.append('page', String(number));
    if (sentSize !== null) search.append('page_size', String(sentSize));
    if (after !== null) search.append('after', after);
    return `${path}?${search.toString()}`;
  };
  return {
    ...(page.count === null ? {} : { count: page.count }),
    next: page.hasNext ? link(page.number + 1, page.after) : null,
    previous: page.number > 1 ? link(page.number - 1, null) : null,
    results: page.results,
  };
}
