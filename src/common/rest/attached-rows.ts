import { ident, raw, sql } from '../../database/sql.js';
import { idType } from '../resource/ids.js';
import { existing } from '../invariants.js';
import { relationCondition } from '../resource/relation-condition.js';
import type { LinkContext } from './sublist.js';

/**
 * Returns the ids of the objects that a relation attaches to the parent, in ascending order. Locks the
 * parent first, so that two concurrent requests that attach objects see each other's rows.
 */
export async function attachedIds(
  { services: { database }, parent, parentDefinition }: LinkContext,
  name: string,
): Promise<number[]> {
  const relation = existing(parentDefinition.relations[name], 'a relation is declared');
  await database.execute(
    sql`SELECT 1 FROM ${ident(parentDefinition.table)} WHERE id = ${parent.id} FOR UPDATE`,
  );
  const attached = await database.rows<{ id: number }>(sql`
    SELECT t.id FROM ${ident(relation.target().table)} t
    WHERE ${relationCondition(relation, sql`${parent.id}::${raw(idType(parentDefinition))}`, 't')} ORDER BY t.id`);
  return attached.map(({ id }) => id);
}
