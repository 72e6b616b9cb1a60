import { ident, type Sql } from '../../database/sql.js';
import type { Field, FieldKind } from './field.js';

/** PostgreSQL type of the column of each kind of field, unless its declaration says otherwise. */
export const COLUMN_TYPES: Record<FieldKind, string> = {
  string: 'text',
  text: 'text',
  integer: 'integer',
  boolean: 'boolean',
  choice: 'text',
  datetime: 'timestamp with time zone',
  float: 'double precision',
  json: 'json',
  variables: 'text',
  secret: 'text',
  email: 'text',
  reference: 'integer',
};

/** Returns true for a field that lists can be filtered and ordered by. */
export const hasValue = ({ column, computed }: Pick<Field, 'column' | 'computed'>): boolean =>
  column !== null || computed !== null;

/** Returns the value of a field in a statement about a row: its column, or what it is computed by. */
export const valueOf = ({ name, column, computed }: Field, alias: string): Sql =>
  computed?.(alias) ?? ident(alias, column ?? name);

/**
 * Options of ids that rows come and go under for years, and of whatever refers to them
 * (docs/decisions/0119-ids-beyond-2-31.md).
 */
export const WIDE = { columnType: 'bigint' } as const;

/** Whole numbers from `least` to `most`. */
export interface WholeNumbers {
  readonly least: number;
  readonly most: number;
}

const INTEGER: WholeNumbers = { least: -2_147_483_648, most: 2_147_483_647 };
const BIGINT: WholeNumbers = { least: Number.MIN_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER };

/** What a column of whole numbers holds; of a `bigint`, what JavaScript tells apart. */
export const rangeOf = (columnType: string): WholeNumbers =>
  columnType === WIDE.columnType ? BIGINT : INTEGER;
