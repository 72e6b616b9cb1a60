import { and, FALSE, join, or, raw, sql, type Sql } from '../../database/sql.js';
import { rangeOf } from '../fields/column-types.js';
import { isStorable } from '../fields/text.js';
import { BadRequest, resultOr } from '../errors/errors.js';
import { itemAt } from '../invariants.js';
import { listOf } from '../records.js';
import type { Row } from '../resource/define-resource.js';
import { TEXT_KINDS } from './lookups.js';
import type { OrderTerm } from './order.js';

type Value = string | number | boolean | null;

/** Maximum length of a cursor in a URL. Orders by long texts can exceed this length. */
const MAX_LENGTH = 2048;

/**
 * Returns the cursor of the next page: the position of a row in the order, so that rows inserted or
 * deleted in the meantime shift nothing (docs/contract/lists.md#long-lists). Opaque to clients. Returns
 * null if the position is too long for a URL; the next page is then found by its number.
 */
export function cursorAfter(row: Row, terms: readonly OrderTerm[], page: number): string | null {
  const values = terms.map(({ column }) => row[column]);
  if (!terms.every((term, index) => fits(term, values[index]))) return null;
  const text = JSON.stringify([page, orderText(terms), ...values]);
  const cursor = Buffer.from(text).toString('base64url');
  return cursor.length > MAX_LENGTH ? null : cursor;
}

/**
 * Returns the position in a cursor, or null if the cursor belongs to another page or order. The page is
 * then found by its number.
 *
 * @throws BadRequest for a text that is not a cursor
 */
export function readCursor(
  text: string,
  terms: readonly OrderTerm[],
  page: number,
): Value[] | null {
  const parsed = decode(text);
  if (!Array.isArray(parsed)) throw new BadRequest('Invalid value of "after".');
  const [cursorPage, order, ...values] = listOf(parsed);
  if (cursorPage !== page || order !== orderText(terms)) return null;
  const validValues = terms.flatMap((term, index) => {
    const value = values[index];
    return fits(term, value) ? [value] : [];
  });
  if (validValues.length !== terms.length || values.length !== terms.length) {
    throw new BadRequest('Invalid value of "after".');
  }
  return validValues;
}

/**
 * Returns the condition for rows after a position. If all directions agree and no value can be null,
 * the condition is a single row comparison, which an index supports.
 */
export function isAfter(terms: readonly OrderTerm[], values: readonly Value[]): Sql {
  const bound = terms.map(({ columnType }, index) => sql`${values[index]}::${raw(columnType)}`);
  const first = itemAt(terms, 0).descending;
  if (terms.every(({ descending, nullable }) => descending === first && !nullable)) {
    const columns = terms.map(({ expression }) => expression);
    return sql`(${join(columns)}) ${operator(first)} (${join(bound)})`;
  }
  return or(
    ...terms.map((term, index) =>
      and(
        ...terms
          .slice(0, index)
          .map(({ expression }, before) =>
            values[before] === null
              ? sql`${expression} IS NULL`
              : sql`${expression} = ${itemAt(bound, before)}`,
          ),
        values[index] === null ? isAfterNull(term) : isAfterValue(term, itemAt(bound, index)),
      ),
    ),
  );
}

/** PostgreSQL sorts nulls last, and first in descending order. */
const isAfterNull = ({ expression, descending }: OrderTerm): Sql =>
  descending ? sql`${expression} IS NOT NULL` : FALSE;

function isAfterValue({ expression, descending, nullable }: OrderTerm, value: Sql): Sql {
  const isBeyond = sql`${expression} ${operator(descending)} ${value}`;
  return nullable && !descending ? or(isBeyond, sql`${expression} IS NULL`) : isBeyond;
}

const operator = (descending: boolean): Sql => raw(descending ? '<' : '>');

const orderText = (terms: readonly OrderTerm[]): string =>
  terms.map(({ name, descending }) => `${descending ? '-' : ''}${name}`).join();

function decode(text: string): unknown {
  if (text.length > MAX_LENGTH) return null;
  return resultOr((): unknown => JSON.parse(Buffer.from(text, 'base64url').toString('utf8')), null);
}

/** Returns true if a value can be compared with the values of a term. Clients can forge cursors. */
function fits({ kind, columnType, nullable }: OrderTerm, value: unknown): value is Value {
  if (value === null) return nullable;
  if (typeof value === 'string') {
    if (kind === 'datetime') return isInstant(value);
    return TEXT_KINDS.has(kind) && isStorable(value);
  }
  if (typeof value === 'boolean') return kind === 'boolean';
  if (typeof value !== 'number') return false;
  if (kind === 'float') return Number.isFinite(value);
  const isInteger = ['integer', 'reference'].includes(kind) && Number.isInteger(value);
  const { min, max } = rangeOf(columnType);
  return isInteger && value >= min && value <= max;
}

function isInstant(text: string): boolean {
  if (!/^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(text)) return false;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === text.slice(0, 19);
}
