import { and, ident, sql, type Sql } from '../../database/sql.js';
import type { Relation, ResourceDefinition } from './define-resource.js';

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
  WHERE ${and(condition, definition.own(alias))}`;

/** Relation with its own link table. */
export type Link = Extract<Relation, { kind: 'many-to-many' }>;

/** Returns the query for the links of a relation: `near` and `far`, the ids on both sides. */
export const selectLinks = ({ table, near, far }: Link): Sql => sql`
  SELECT lnk.${ident(near)} AS near, lnk.${ident(far)} AS far FROM ${ident(table)} lnk`;
