import { raw, sql, type Sql } from '../../database/sql.js';
import { rangeOf, type ColumnType } from '../fields/column-types.js';
import { fieldOf, type ManyToMany, type ResourceDefinition } from './define-resource.js';

/** Returns the PostgreSQL type of the ids of a resource (docs/decisions/0119-bigint-ids.md). */
export const idType = (definition: ResourceDefinition): ColumnType =>
  fieldOf(definition, 'id').columnType;

/**
 * Returns true if a number is in the range of the resource's ids. PostgreSQL rejects comparisons with
 * numbers outside the range.
 */
export const isPossibleId = (definition: ResourceDefinition, id: number): boolean =>
  id > 0 && id <= rangeOf(idType(definition)).max;

/** Returns true if a text contains only digits, and no more digits than the greatest id of the resource. */
export const isIdText = (definition: ResourceDefinition, text: string): boolean =>
  /^\d+$/.test(text) && text.length <= String(rangeOf(idType(definition)).max).length;

/** Returns the numbers with the form of an id (`isIdText`) in a value or a list of values. */
export const idsIn = (definition: ResourceDefinition, values: unknown): number[] =>
  [values].flat().flatMap((value) => (isIdText(definition, String(value)) ? [Number(value)] : []));

/** Returns ids as an SQL array. Omits ids outside the range of the column. */
export const idList = (definition: ResourceDefinition, ids: readonly number[]): Sql =>
  sql`${ids.filter((id) => isPossibleId(definition, id))}::${raw(idType(definition))}[]`;

/**
 * Returns the PostgreSQL type of the ids of link tables, which have at least as many rows as the tables that
 * they link.
 */
export const linkIdType = (definition: ResourceDefinition, { target }: ManyToMany): ColumnType =>
  [definition, target()].some((resource) => idType(resource) === 'bigint') ? 'bigint' : 'integer';
