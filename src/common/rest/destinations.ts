import { and, ident, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { Forbidden } from '../errors/errors.js';
import { columnOf, targetOf } from '../fields/field.js';
import { existing } from '../invariants.js';
import type { Destination, ResourceDefinition, Row } from '../resource/define-resource.js';
import { relationCondition } from '../resource/relation-condition.js';
import type { Values } from './hooks.js';

/** Secret or other object that a row references, with the fields that decide where it is used. */
interface ProtectedObject {
  /** Column of the locked row that is true if the caller has `use` on the object. */
  column: string;
  target: ResourceDefinition;
  /** SQL condition that joins a row `kept` of the target to a row `t` of the object. */
  condition: Sql;
  /** Field that replaces the reference; null for a relation that is attached elsewhere. */
  field: string | null;
  decidedBy: readonly string[];
}

/**
 * Returns the columns of a locked row that are true for each referenced object on which the caller has
 * `use`.
 */
export const destinationColumns = (definition: ResourceDefinition, actor: Actor): Sql[] =>
  protectedObjects(definition).map(({ column, target, condition }) => {
    const rule = permit(target.policy, 'use', 'kept', actor);
    const isUsable =
      rule === TRUE
        ? TRUE
        : sql`NOT EXISTS (
            SELECT 1 FROM ${ident(target.table)} kept WHERE ${and(condition, sql`NOT (${rule})`)})`;
    return sql`(${isUsable}) AS ${ident(column)}`;
  });

/**
 * Prevents a caller without `use` on a stored secret from sending it to a new destination.
 *
 * @param before the row as `ResourceService.lock` read it for the caller
 * @param changed the values that the request changes
 * @throws Forbidden naming the fields that decide the destination
 */
export function assertRedirect(definition: ResourceDefinition, before: Row, changed: Values): void {
  for (const { column, target, field, decidedBy } of protectedObjects(definition)) {
    const redirecting = decidedBy.filter((name) => name in changed);
    const isReplaced = field !== null && field in changed;
    if (redirecting.length === 0 || isReplaced || before[column] === true) continue;
    const label = target.label.toLowerCase();
    throw new Forbidden(
      `Changing ${redirecting.join(', ')} requires permission to use the current ${label}, or another ${label}.`,
    );
  }
}

const protectedObjects = (definition: ResourceDefinition): ProtectedObject[] =>
  definition.destinations.flatMap(({ protects, decidedBy }, destinationIndex) =>
    protects.map((name, index) => {
      const column = `may_use_kept_${destinationIndex}_${index}`;
      return { ...joinOf(definition, name), decidedBy, column };
    }),
  );

/** Returns the target and the join condition of a reference or a relation. */
function joinOf(
  definition: ResourceDefinition,
  name: Destination['protects'][number],
): Pick<ProtectedObject, 'target' | 'condition' | 'field'> {
  const field = typeof name === 'string' ? definition.field(name) : undefined;
  if (field) {
    const condition = sql`kept.id = ${ident('t', columnOf(field))}`;
    return { target: targetOf(field), condition, field: field.name };
  }
  const relation =
    typeof name === 'string'
      ? existing(definition.relations[name], 'a destination names a reference or a relation')
      : name;
  const condition = relationCondition(relation, ident('t', 'id'), 'kept');
  return { target: relation.target(), condition, field: null };
}
