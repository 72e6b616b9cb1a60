import { and, ident, sql, type Sql } from '../../database/sql.js';
import type { Relation, ResourceDefinition } from './define-resource.js';

/**
 * Query for rows of any resource, as its declaration says where they are: what holds for objects of
 * every type is asked this way. What holds for those of one is asked of its repository.
 */
export const selectRows = (
  definition: ResourceDefinition,
  alias: string,
  columns: Sql,
  condition: Sql,
): Sql => sql`
  SELECT ${columns} FROM ${ident(definition.table)} ${ident(alias)}
  WHERE ${and(condition, definition.own(alias))}`;

/** A relation that has a table of its own. */
export type Link = Extract<Relation, { kind: 'many-to-many' }>;

/** Query for the links of a relation: `near` and `far`, the ids of what it ties. */
export const selectLinks = ({ table, near, far }: Link): Sql => sql`
  SELECT lnk.${ident(near)} AS near, lnk.${ident(far)} AS far FROM ${ident(table)} lnk`;
