import { raw, sql, type Sql } from '../../database/sql.js';
import { rangeOf } from '../fields/column-types.js';
import { fieldOf, type Relation, type ResourceDefinition } from './define-resource.js';

/** PostgreSQL type of the ids of a resource (docs/decisions/0119-ids-beyond-2-31.md). */
export const idType = (definition: ResourceDefinition): string =>
  fieldOf(definition, 'id').columnType;

/** Whether rows of a resource may have a number as their id. PostgreSQL refuses to look for others. */
export const isPossibleId = (definition: ResourceDefinition, id: number): boolean =>
  id > 0 && id <= rangeOf(idType(definition)).most;

/** Whether a text may be an id of a resource: it has no more digits than the greatest. */
export const isIdText = (definition: ResourceDefinition, text: string): boolean =>
  /^\d+$/.test(text) && text.length <= String(rangeOf(idType(definition)).most).length;

/** What may be an id of a resource among what was given. */
export const idsIn = (definition: ResourceDefinition, given: unknown): number[] =>
  [given].flat().flatMap((one) => (isIdText(definition, String(one)) ? [Number(one)] : []));

/** Ids of a resource as a list in a statement, those left out that no row can have. */
export const idList = (definition: ResourceDefinition, ids: readonly number[]): Sql =>
  sql`${ids.filter((id) => isPossibleId(definition, id))}::${raw(idType(definition))}[]`;

/** PostgreSQL type of the ids of links: there are at least as many as of what they tie. */
export const linkIdType = (
  definition: ResourceDefinition,
  { target }: Extract<Relation, { kind: 'many-to-many' }>,
): string =>
  [definition, target()].some((one) => idType(one) === 'bigint') ? 'bigint' : 'integer';
