import { raw, sql, type Sql } from '../../database/sql.js';
import { rangeOf, type ColumnType } from '../fields/column-types.js';
import { fieldOf, type Relation, type ResourceDefinition } from './define-resource.js';

/** PostgreSQL type of the ids of a resource (docs/decisions/0119-bigint-ids.md). */
export const idType = (definition: ResourceDefinition): ColumnType =>
  fieldOf(definition, 'id').columnType;

/**
 * True if a number is in the range of the resource's ids. PostgreSQL rejects comparisons with other
 * numbers.
 */
export const isPossibleId = (definition: ResourceDefinition, id: number): boolean =>
  id > 0 && id <= rangeOf(idType(definition)).max;

/** True if a text can be an id of a resource: only digits, and no more than the greatest id has. */
export const isIdText = (definition: ResourceDefinition, text: string): boolean =>
  /^\d+$/.test(text) && text.length <= String(rangeOf(idType(definition)).max).length;

/** Returns the valid ids among the given values. */
export const idsIn = (definition: ResourceDefinition, given: unknown): number[] =>
  [given].flat().flatMap((one) => (isIdText(definition, String(one)) ? [Number(one)] : []));

/** Returns ids as an array in a statement, without those outside the range of the column. */
export const idList = (definition: ResourceDefinition, ids: readonly number[]): Sql =>
  sql`${ids.filter((id) => isPossibleId(definition, id))}::${raw(idType(definition))}[]`;

/**
 * PostgreSQL type of the ids of link tables, which have at least as many rows as the tables that they
 * link.
 */
export const linkIdType = (
  definition: ResourceDefinition,
  { target }: Extract<Relation, { kind: 'many-to-many' }>,
): ColumnType =>
  [definition, target()].some((one) => idType(one) === 'bigint') ? 'bigint' : 'integer';
