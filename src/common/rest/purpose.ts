import { and, ident, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { Forbidden } from '../errors/errors.js';
import { columnOf, targetOf } from '../fields/field.js';
import { existing } from '../invariants.js';
import { type Purpose, type ResourceDefinition, type Row } from '../resource/define-resource.js';
import { relationCondition } from '../resource/relation-condition.js';
import type { Values } from './hooks.js';

/** Something an object keeps: the rows it leads to, and the purpose they are kept for. */
interface Kept {
  /** Column of a locked row: whether the caller may use it. */
  column: string;
  target: ResourceDefinition;
  /** Ties a row `kept` of the target to a row `t` of the object. */
  tie: Sql;
  /** Field that brings another one along; null for what is attached elsewhere. */
  field: string | null;
  decidedBy: readonly string[];
}

/** Columns that say of a locked row which of the things it keeps the caller may use. */
export const purposeColumns = (definition: ResourceDefinition, actor: Actor): Sql[] =>
  keptBy(definition).map(({ column, target, tie }) => {
    const rule = permit(target.policy, 'use', 'kept', actor);
    const isUsable =
      rule === TRUE
        ? TRUE
        : sql`NOT EXISTS (
            SELECT 1 FROM ${ident(target.table)} kept WHERE ${and(tie, sql`NOT (${rule})`)})`;
    return sql`(${isUsable}) AS ${ident(column)}`;
  });

/**
 * What is kept goes nowhere else by the word of somebody who may not use it.
 *
 * @param before the row as `ResourceService.lock` read it for the caller
 * @param changed what the request changes
 * @throws Forbidden naming the fields that decide
 */
export function assertPurpose(definition: ResourceDefinition, before: Row, changed: Values): void {
  for (const { column, target, field, decidedBy } of keptBy(definition)) {
    const deciding = decidedBy.filter((name) => name in changed);
    const isReplaced = field !== null && field in changed;
    if (deciding.length === 0 || isReplaced || before[column] === true) continue;
    const label = target.label.toLowerCase();
    throw new Forbidden(
      `Changing ${deciding.join(', ')} needs use on the ${label} that is kept, or another one.`,
    );
  }
}

const keptBy = (definition: ResourceDefinition): Kept[] =>
  definition.purposes.flatMap((purpose, at) =>
    purpose.keeps.map((name, index) => ({
      ...leadOf(definition, name),
      decidedBy: purpose.decidedBy,
      column: `may_use_kept_${at}_${index}`,
    })),
  );

/** Where a reference or a relation leads to. */
function leadOf(
  definition: ResourceDefinition,
  name: Purpose['keeps'][number],
): Pick<Kept, 'target' | 'tie' | 'field'> {
  const field = typeof name === 'string' ? definition.field(name) : undefined;
  if (field) {
    const tie = sql`kept.id = ${ident('t', columnOf(field))}`;
    return { target: targetOf(field), tie, field: field.name };
  }
  const relation =
    typeof name === 'string'
      ? existing(definition.relations[name], 'a purpose names a reference or a relation')
      : name;
  const tie = relationCondition(relation, ident('t', 'id'), 'kept');
  return { target: relation.target(), tie, field: null };
}
