import { and, FALSE, ident, join, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { INT4_MAX } from '../fields/text.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { purposeColumns } from './purpose.js';
import { capabilityColumns } from '../resource/represent.js';

/** What a statement tells of a row besides its columns: whether the caller may see it and act on it. */
export interface Verdict {
  may_read: boolean;
  may_act: boolean;
}

/** One row with its capabilities, and a verdict. An id that no row can have finds none. */
export function judgedRow(
  definition: ResourceDefinition,
  id: number,
  actor: Actor,
  action: string,
): Sql {
  const isPossible = id > 0 && id <= INT4_MAX;
  return sql`
    SELECT ${columnsOf(definition, actor)},
      (${permit(definition.policy, 'read', 't', actor)}) AS may_read,
      (${action === 'read' ? TRUE : permit(definition.policy, action, 't', actor)}) AS may_act
    FROM ${ident(definition.table)} t
    WHERE ${and(isPossible ? sql`t.id = ${id}` : FALSE, definition.own('t'))}`;
}

/** A row by its id as it is now, with its capabilities. */
export const currentRow = (definition: ResourceDefinition, id: number, actor: Actor): Sql => sql`
  SELECT ${columnsOf(definition, actor)} FROM ${ident(definition.table)} t WHERE t.id = ${id}`;

/** The same to be changed: locked, and with what it keeps that the caller may use. */
export const lockedRow = (definition: ResourceDefinition, id: number, actor: Actor): Sql => sql`
  SELECT ${join([columnsOf(definition, actor), ...purposeColumns(definition, actor)], ', ')}
  FROM ${ident(definition.table)} t WHERE t.id = ${id} FOR UPDATE OF t`;

const columnsOf = (definition: ResourceDefinition, actor: Actor): Sql =>
  join([sql`t.*`, ...capabilityColumns(definition, actor)], ', ');
