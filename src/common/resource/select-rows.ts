import { and, ident, sql, type Sql } from '../../database/sql.js';
import type { ManyToMany, ResourceDefinition } from './define-resource.js';

/**
 * Returns a query for rows of any resource, from the table in its declaration. Only for queries that apply
 * to every type; queries on one type belong in its repository.
 */
export const selectRows = (
  definition: ResourceDefinition,
  alias: string,
  columns: Sql,
  condition: Sql,
): Sql => sql`
  SELECT ${columns} FROM ${ident(definition.table)} ${ident(alias)}
  WHERE ${and(condition, definition.partCondition(alias))}`;

/** Returns the condition for the constant columns of a link, whose table has the alias. */
export const fixedCondition = (alias: string, fixed: Record<string, string> = {}): Sql =>
  and(...Object.entries(fixed).map(([column, value]) => sql`${ident(alias, column)} = ${value}`));

/** Returns the query for the links of a relation: `source_id` and `target_id`. */
export const selectLinks = ({ table, sourceColumn, targetColumn }: ManyToMany): Sql => sql`
  SELECT lnk.${ident(sourceColumn)} AS source_id, lnk.${ident(targetColumn)} AS target_id
  FROM ${ident(table)} lnk`;
