import { raw, sql, type Sql } from '../../database/sql.js';
import type { Field } from '../fields/field.js';
import { rangeOf } from '../fields/column-types.js';
import { toTimestamp } from '../fields/lenient-reader.js';
import { BadRequest } from '../errors/errors.js';
import type { Condition } from './query.js';
import { assertBoundedPattern } from './regex-bounds.js';

export const TEXT_KINDS = new Set(['string', 'text', 'choice', 'email', 'variables']);
const COMPARISONS: Record<string, string> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

/**
 * Returns the SQL condition of one comparison on a field's value.
 *
 * @throws BadRequest if the value does not fit the field (docs/contract/lists.md#filters)
 */
export function compareColumn(field: Field, column: Sql, condition: Condition): Sql {
  const { lookup, value } = condition;
  if (lookup === 'isnull') return isNull(column, value);
  if (lookup === 'in') return isIn(field, column, value);
  const operator = COMPARISONS[lookup];
  if (operator) return sql`${column} ${raw(operator)} ${convert(field, value)}`;
  if (lookup === 'exact') return exact(field, column, condition);
  return match(field, column, lookup, value);
}

function exact(field: Field, column: Sql, { value, castInteger }: Condition): Sql {
  if (castInteger) return sql`${column}::text = ${String(toInteger(field, value))}`;
  if (isNullWord(value) && (field.kind === 'reference' || field.nullable)) {
    return sql`${column} IS NULL`;
  }
  return sql`${column} = ${convert(field, value)}`;
}

export const isNullWord = (value: string): boolean =>
  ['null', 'none', 'None', 'NULL'].includes(value);

function isNull(column: Sql, value: string): Sql {
  return toBooleanWord(value) ? sql`${column} IS NULL` : sql`${column} IS NOT NULL`;
}

function isIn(field: Field, column: Sql, value: string): Sql {
  if (value === '') throw new BadRequest('cannot provide empty value for __in');
  const values = value.split(',').map((item) => convert(field, item.trim()));
  const type = TEXT_KINDS.has(field.kind) ? 'text' : field.columnType;
  return sql`${column} = ANY(${values}::${raw(type)}[])`;
}

/** Numbers that are long enough to identify a row among many numbered rows. */
const NUMBER = /\d{5,}/g;

/**
 * Returns the condition that a column contains a term in any case. If the term contains a long number, the
 * trigram index is searched for the last long number only: an index search reads the rows of every trigram
 * in the pattern, and numbered names share all other trigrams (docs/decisions/0117-search.md).
 */
export function containsTerm(column: Sql, term: string): Sql {
  const text = sql`${column}::text`;
  const number = term.match(NUMBER)?.at(-1) ?? term;
  if (number === term) return sql`${text} ILIKE ${partPattern(term)}`;
  // No index covers the `|| ''` expression, so PostgreSQL evaluates it only on rows with the number.
  return sql`(${text} ILIKE ${partPattern(number)} AND (${text} || '') ILIKE ${partPattern(term)})`;
}

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
const partPattern = (text: string): string => `%${escapeLike(text)}%`;

function match(field: Field, column: Sql, lookup: string, value: string): Sql {
  const insensitive = lookup.startsWith('i');
  if (insensitive && !TEXT_KINDS.has(field.kind)) {
    throw new BadRequest(
      `${field.name} is not a text field and cannot be filtered by case-insensitive search`,
    );
  }
  const text = TEXT_KINDS.has(field.kind) ? column : sql`${column}::text`;
  const like = insensitive ? raw('ILIKE') : raw('LIKE');
  const escaped = escapeLike(value);
  switch (insensitive ? lookup.slice(1) : lookup) {
    case 'exact':
      return sql`${text} ${like} ${escaped}`;
    case 'contains':
      return insensitive ? containsTerm(column, value) : sql`${text} LIKE ${partPattern(value)}`;
    case 'startswith':
      return sql`${text} ${like} ${`${escaped}%`}`;
    case 'endswith':
      return sql`${text} ${like} ${`%${escaped}`}`;
    case 'regex':
      assertBoundedPattern(value);
      return sql`${text} ${raw(insensitive ? '~*' : '~')} ${value}`;
    default:
      throw new BadRequest(`${field.name} is not searchable`);
  }
}

function convert(field: Field, value: string): unknown {
  switch (field.kind) {
    case 'integer':
      return toInteger(field, value);
    case 'reference':
      if (!/^\s*\d{1,20}\s*$/.test(value)) {
        throw new BadRequest(`Invalid ${field.name} id: ${value}`);
      }
      return Math.min(Number(value), rangeOf(field.columnType).max);
    case 'boolean':
      return toBooleanWord(value);
    case 'float': {
      const number = Number(value);
      if (value.trim() === '' || !Number.isFinite(number)) {
        throw new BadRequest(`"${value}" value must be a number.`);
      }
      return number;
    }
    case 'datetime': {
      const instant = toTimestamp(value);
      if (instant === undefined) {
        throw new BadRequest(
          `"${value}" value has an invalid format. It must be an ISO 8601 date or date-time.`,
        );
      }
      return instant;
    }
    default:
      return value;
  }
}

function toInteger(field: Field, value: string): number {
  if (!/^\s*[+-]?\d{1,20}\s*$/.test(value)) {
    throw new BadRequest(
      field.name === 'id' ? `Invalid id: ${value}` : `"${value}" value must be an integer.`,
    );
  }
  // No value outside the column's range equals a stored one; clamping keeps comparisons correct.
  const { min, max } = rangeOf(field.columnType);
  return Math.max(min, Math.min(max, Number(value)));
}

/** @throws BadRequest for anything but the boolean words of filters (docs/contract/lists.md#filters) */
export function toBooleanWord(value: string): boolean {
  const word = value.toLowerCase();
  if (['true', '1', 't'].includes(word)) return true;
  if (['false', '0', 'f'].includes(word)) return false;
  throw new BadRequest(`Unable to convert "${value}" to boolean`);
}
