import { and, join, or, raw, sql, type Sql } from '../../database/sql.js';
import type { Field } from '../fields/field.js';
import { INT4_MAX, INT4_MIN, isStorable } from '../fields/text.js';
import { BadRequest } from '../http/errors.js';
import type { Row } from '../resource/define-resource.js';
import type { OrderTerm } from './order.js';

type Value = string | number | boolean;

const TEXT_KINDS = new Set(['string', 'text', 'choice', 'email', 'variables']);
/** Longer ones, of an order by long texts, have no place in a URL. */
const MAX_LENGTH = 2048;

/**
 * Where the next page starts: the place of a row in its order, so that rows made or deleted
 * meanwhile shift nothing (decision 34). Opaque to clients; null where the order cannot be told
 * from the row alone, and the next page is then found by its number.
 */
export function cursorAfter(row: Row, terms: readonly OrderTerm[], page: number): string | null {
  const values: unknown[] = [];
  for (const { field } of terms) {
    const value = field?.column ? row[field.column] : undefined;
    if (!field || field.nullable || !fits(field, value)) return null;
    values.push(value);
  }
  const text = JSON.stringify([page, orderOf(terms), ...values]);
  const cursor = Buffer.from(text).toString('base64url');
  return cursor.length > MAX_LENGTH ? null : cursor;
}

/**
 * The place a cursor names, or null when it was made for another page or order: the page is then
 * found by its number.
 *
 * @throws BadRequest for a text that no list gave out
 */
export function readCursor(
  text: string,
  terms: readonly OrderTerm[],
  page: number,
): Value[] | null {
  const parsed = decode(text);
  if (!Array.isArray(parsed)) throw new BadRequest('Invalid value of "after".');
  const [madeFor, order, ...values] = parsed as unknown[];
  if (madeFor !== page || order !== orderOf(terms)) return null;
  const fitting = terms.every(({ field }, index) => field && fits(field, values[index]));
  if (!fitting || values.length !== terms.length) {
    throw new BadRequest('Invalid value of "after".');
  }
  return values as Value[];
}

/** Rows behind a place. One comparison of rows where the directions agree: an index answers that. */
export function isBehind(terms: readonly OrderTerm[], values: readonly Value[]): Sql {
  const bound = terms.map(
    ({ field }, index) => sql`${values[index]}::${raw(field?.columnType ?? 'text')}`,
  );
  const first = terms[0]!.descending;
  if (terms.every(({ descending }) => descending === first)) {
    const columns = terms.map(({ expression }) => expression);
    return sql`(${join(columns, ', ')}) ${operator(first)} (${join(bound, ', ')})`;
  }
  return or(
    ...terms.map(({ expression, descending }, index) =>
      and(
        ...terms.slice(0, index).map((term, before) => sql`${term.expression} = ${bound[before]!}`),
        sql`${expression} ${operator(descending)} ${bound[index]!}`,
      ),
    ),
  );
}

const operator = (descending: boolean): Sql => raw(descending ? '<' : '>');

const orderOf = (terms: readonly OrderTerm[]): string =>
  terms.map(({ field, descending }) => `${descending ? '-' : ''}${field?.name ?? ''}`).join();

function decode(text: string): unknown {
  if (text.length > MAX_LENGTH) return null;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown;
  } catch {
    return null;
  }
}

/** Whether a value can be compared with the field's column: what comes back may be forged. */
function fits(field: Field, value: unknown): boolean {
  if (typeof value === 'string') {
    if (field.kind === 'datetime') return isInstant(value);
    return TEXT_KINDS.has(field.kind) && isStorable(value);
  }
  if (typeof value === 'boolean') return field.kind === 'boolean';
  if (typeof value !== 'number') return false;
  if (field.kind === 'float') return Number.isFinite(value);
  const isInteger = ['integer', 'reference'].includes(field.kind) && Number.isInteger(value);
  return isInteger && value >= INT4_MIN && value <= INT4_MAX;
}

function isInstant(text: string): boolean {
  if (!/^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(text)) return false;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === text.slice(0, 19);
}
