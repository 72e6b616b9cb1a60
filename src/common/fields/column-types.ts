import { ident, type Sql } from '../../database/sql.js';
import type { Field, FieldKind } from './field.js';

export type ColumnType =
  | 'text'
  | 'integer'
  | 'bigint'
  | 'double precision'
  | 'boolean'
  | 'timestamp with time zone'
  | 'json';

/** Default PostgreSQL type of the column of each kind of field. */
export const COLUMN_TYPES: Record<FieldKind, ColumnType> = {
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

/** Returns true if the field has an SQL value: a column, or a computed expression. */
export const hasValue = ({ column, computed }: Pick<Field, 'column' | 'computed'>): boolean =>
  column !== null || computed !== undefined;

/** Returns the SQL value of a field in a statement about a row: its column or its computed expression. */
export const valueOf = ({ name, column, computed }: Field, alias: string): Sql =>
  computed?.(alias) ?? ident(alias, column ?? name);

/**
 * Column options of ids, and of references to them, in tables whose rows are inserted and deleted for
 * years (docs/decisions/0119-bigint-ids.md).
 */
export const WIDE = { columnType: 'bigint' } as const;

/** Range of integers, including both ends. */
export interface IntegerRange {
  readonly min: number;
  readonly max: number;
}

const INTEGER_RANGE: IntegerRange = { min: -2_147_483_648, max: 2_147_483_647 };
const BIGINT_RANGE: IntegerRange = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

/**
 * Returns the range of an integer column. For a `bigint`, returns the range of exact JavaScript integers.
 */
export const rangeOf = (columnType: ColumnType): IntegerRange =>
  columnType === WIDE.columnType ? BIGINT_RANGE : INTEGER_RANGE;
