import { and, FALSE, ident, join, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { isPossibleId } from '../resource/ids.js';
import { purposeColumns } from './purpose.js';
import { capabilityColumns } from '../resource/represent.js';

/**
 * Selects one row with its capabilities and the permission columns that `admitted` reads (`may_read`,
 * `may_act`). An id outside the range of the column finds no row.
 */
export function judgedRow(
  definition: ResourceDefinition,
  id: number,
  actor: Actor,
  action: string,
): Sql {
  return sql`
    SELECT ${columnsOf(definition, actor)},
      (${permit(definition.policy, 'read', 't', actor)}) AS may_read,
      (${action === 'read' ? TRUE : permit(definition.policy, action, 't', actor)}) AS may_act
    FROM ${ident(definition.table)} t
    WHERE ${and(isPossibleId(definition, id) ? sql`t.id = ${id}` : FALSE, definition.own('t'))}`;
}

/** True if the text is an id rather than a natural key. */
export const isId = (text: string): boolean => /^\d+$/.test(text);

/** Selects the current row with its capabilities, by id. */
export const currentRow = (definition: ResourceDefinition, id: number, actor: Actor): Sql => sql`
  SELECT ${columnsOf(definition, actor)} FROM ${ident(definition.table)} t WHERE t.id = ${id}`;

/** Selects and locks the current row, with its capabilities and the columns of `purposeColumns`. */
export const lockedRow = (definition: ResourceDefinition, id: number, actor: Actor): Sql => sql`
  SELECT ${join([columnsOf(definition, actor), ...purposeColumns(definition, actor)], ', ')}
  FROM ${ident(definition.table)} t WHERE t.id = ${id} FOR UPDATE OF t`;

const columnsOf = (definition: ResourceDefinition, actor: Actor): Sql =>
  join([sql`t.*`, ...capabilityColumns(definition, actor)], ', ');
