import { BadRequest } from '../errors/errors.js';
import { isStorable } from '../fields/text.js';

/** One `field__lookup=value` of a query string, not converted yet. */
export interface Condition {
  /** The key as sent, for error messages. */
  key: string;
  path: readonly string[];
  lookup: string;
  negated: boolean;
  /** True if the value is an integer that is compared with the text of the column (`__int`). */
  castInteger: boolean;
  value: string;
}

/** Parsed list query, not verified against a resource yet. */
export interface ListQuery {
  /**
   * Conditions combined by AND. Conditions through one to-many relation concern one related row, unless they
   * are negated.
   */
  all: readonly Condition[];
  /** Conditions combined by AND, each on a separate related row (`chain__`). */
  chained: readonly Condition[];
  /** Conditions combined by OR (`or__`). */
  any: readonly Condition[];
  /** Words of `search`, all of which must be found. */
  search: readonly string[];
  /** Types of objects, for lists of several types. */
  types: readonly string[];
  order: readonly string[];
  /** Texts in the resource's query language (`ResourceOptions.expression`), all of which must match. */
  expressions: readonly string[];
  roleLevel: string | null;
}

export type QueryParameters = Record<string, string | string[] | undefined>;

export const LOOKUPS = new Set([
  'exact',
  'iexact',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
  'regex',
  'iregex',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'isnull',
  'search',
]);

/** Parameters of every list (docs/contract/lists.md#reserved-names). */
const LIST_PARAMETERS = new Set([
  'page',
  'page_size',
  'after',
  'order',
  'order_by',
  'search',
  'type',
  'count_disabled',
  'role_level',
  // Clients send this parameter to every URL; lists ignore it.
  'format',
]);
/** Parameters of event lists. */
const EVENT_PARAMETERS = new Set(['limit', 'no_truncate']);
/** Parameters of other routes. A column of that name is filtered with a lookup: `limit__exact`. */
const OTHER_PARAMETERS = new Set(['validate', 'dry_run', 'hostvars', 'towervars', 'all']);

const MAX_PARAMETERS = 100;
const MAX_SEARCH_LENGTH = 512;
const MAX_SEARCH_WORDS = 32;
const MAX_ORDER_FIELDS = 16;

/** Parameters that only some lists support. */
export interface OptionalParameters {
  /** Parameter for the list's query language. */
  expression?: string | null;
  /** True for an event list. */
  events?: boolean;
}

/**
 * Parses a query string.
 *
 * @throws BadRequest naming the invalid parameter
 */
export function parseListQuery(
  parameters: QueryParameters,
  { expression = null, events = false }: OptionalParameters = {},
): ListQuery {
  const all: Condition[] = [];
  const chained: Condition[] = [];
  const any: Condition[] = [];
  const entries = queryEntries(parameters);
  if (entries.length > MAX_PARAMETERS) throw new BadRequest('Too many query parameters.');
  for (const [key, value] of entries) {
    if (!isStorable(value) || !isStorable(key)) {
      throw new BadRequest('Null characters are not allowed in the query string.');
    }
    if (LIST_PARAMETERS.has(key) || key === expression) continue;
    if (events && EVENT_PARAMETERS.has(key)) continue;
    if (EVENT_PARAMETERS.has(key) || OTHER_PARAMETERS.has(key)) {
      throw new BadRequest(`The parameter ${key} does not apply to this list.`);
    }
    const parsed = parseCondition(key, value);
    (parsed.group === 'or' ? any : parsed.group === 'chain' ? chained : all).push(parsed.condition);
  }
  return {
    all,
    chained,
    any,
    search: searchTerms(valuesOf(parameters.search).join(' ')),
    types: valuesOf(parameters.type).flatMap((value) => value.split(',')),
    order: orderNames([...valuesOf(parameters.order_by), ...valuesOf(parameters.order)]),
    expressions: expression === null ? [] : valuesOf(parameters[expression]),
    roleLevel: valuesOf(parameters.role_level)[0] ?? null,
  };
}

/** Lookups that an index supports, or that compare whole values. */
const CHEAP = new Set(['exact', 'in', 'isnull', 'gt', 'gte', 'lt', 'lte']);
const MAX_CHEAP_CONDITIONS = 10;

/**
 * Returns true if a query may make the database do expensive work for every row: searches in texts,
 * filters through relations, or many conditions.
 */
export function isCostly({ all, any, chained, search, order, expressions }: ListQuery): boolean {
  const conditions = [...all, ...any, ...chained];
  return (
    search.length + expressions.length > 0 ||
    conditions.length > MAX_CHEAP_CONDITIONS ||
    conditions.some(({ path, lookup }) => path.length > 1 || !CHEAP.has(lookup)) ||
    order.some((name) => name.includes('__'))
  );
}

/**
 * Returns true if a query searches for parts of texts. The number of matching rows cannot be predicted.
 */
export const searchesTexts = ({ all, any, chained, search }: ListQuery): boolean =>
  search.length > 0 || [...all, ...any, ...chained].some(({ lookup }) => !CHEAP.has(lookup));

/** Returns the non-empty names that a list is ordered by. */
function orderNames(values: readonly string[]): string[] {
  const names = values
    .flatMap((value) => value.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== '-');
  if (names.length > MAX_ORDER_FIELDS) {
    throw new BadRequest(`A list may be ordered by at most ${MAX_ORDER_FIELDS} fields.`);
  }
  return names;
}

/** Returns the names and values of all parameters. A name with several values occurs several times. */
export const queryEntries = (parameters: QueryParameters): [name: string, value: string][] =>
  Object.entries(parameters).flatMap(([name, value]) =>
    [value ?? []].flat().map((item): [string, string] => [name, item]),
  );

/**
 * Returns a parameter that is a whole number from 1 to `max`, or `absent` if the query lacks it.
 *
 * @throws BadRequest for another value
 */
export function wholeNumberOf(
  parameters: QueryParameters,
  name: string,
  { absent, max }: { absent: number; max: number },
): number {
  const count = Number(valuesOf(parameters[name])[0] ?? absent);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  throw new BadRequest(`${name} must be a whole number from 1 to ${max}.`);
}

/** Returns all non-empty values of one parameter. */
export function valuesOf(parameter: string | string[] | undefined): string[] {
  return [parameter ?? []].flat().filter((value) => value !== '');
}

/**
 * Parses one `field__lookup=value`.
 *
 * @throws BadRequest
 */
export function parseCondition(
  key: string,
  value: string,
): { group: 'and' | 'or' | 'chain'; condition: Condition } {
  if (!/^[\x00-\x7f]*$/.test(key)) {
    throw new BadRequest(`"${key}" is not an allowed field name. Must be ascii encodable.`);
  }
  const parts = key.split('__');
  let group: 'and' | 'or' | 'chain' = 'and';
  let negated = false;
  for (;;) {
    if (parts[0] === 'or') group = 'or';
    else if (parts[0] === 'chain') group = 'chain';
    else if (parts[0] === 'not') negated = true;
    else break;
    parts.shift();
  }
  const castInteger = parts.length > 1 && parts.at(-1) === 'int';
  if (castInteger) parts.pop();
  const last = parts.at(-1) ?? '';
  const lookup = parts.length > 1 && LOOKUPS.has(last) ? last : 'exact';
  if (lookup === last && parts.length > 1) parts.pop();
  if (parts.length === 0 || parts.some((part) => part === '')) {
    throw new BadRequest('Query string field name not provided.');
  }
  return { group, condition: { key, path: parts, lookup, negated, castInteger, value } };
}

/**
 * Splits a search text on blanks and commas; quotes keep a phrase together
 * (docs/contract/lists.md#search).
 */
export function searchTerms(text: string): string[] {
  if (text.length > MAX_SEARCH_LENGTH) {
    throw new BadRequest(`A search may have at most ${MAX_SEARCH_LENGTH} characters.`);
  }
  const terms = [...text.matchAll(/"([^"]*)"|'([^']*)'|([^\s,]+)/g)]
    .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
    .filter((term) => term !== '');
  if (terms.length > MAX_SEARCH_WORDS) {
    throw new BadRequest(`A search may have at most ${MAX_SEARCH_WORDS} words.`);
  }
  return terms;
}
