import { ident, join, sql, type Sql } from '../../database/sql.js';
import type { ManyToMany, ResourceDefinition } from './define-resource.js';
import { fixedCondition } from './select-rows.js';

/**
 * Step of a join between two tables: by a column of the source, by a column of the target, or by a link
 * table.
 */
export type JoinStep =
  | { kind: 'forward'; table: string; column: string }
  | { kind: 'back'; table: string; column: string }
  | ({ kind: 'link' } & Pick<ManyToMany, 'table' | 'sourceColumn' | 'targetColumn' | 'fixed'>);

/** Tables of a statement that finds related rows, and the condition that joins them to a row. */
export interface Joined {
  from: Sql;
  where: Sql;
}

/** Returns the step in the opposite direction. */
export function reversed(step: JoinStep): JoinStep {
  switch (step.kind) {
    case 'forward':
      return { ...step, kind: 'back' };
    case 'back':
      return { ...step, kind: 'forward' };
    case 'link':
      return { ...step, sourceColumn: step.targetColumn, targetColumn: step.sourceColumn };
  }
}

export const distinct = (steps: readonly JoinStep[]): JoinStep[] => [
  ...new Map(
    steps.map((step) => [
      step.kind === 'link'
        ? `${step.table} ${step.sourceColumn} ${JSON.stringify(step.fixed)}`
        : `${step.kind} ${step.table} ${step.column}`,
      step,
    ]),
  ).values(),
];

/** Returns the join of a target's rows by a condition. */
export const joinedBy = (target: ResourceDefinition, alias: string, where: Sql): Joined => ({
  from: sql`${ident(target.table)} ${ident(alias)}`,
  where,
});

/**
 * Returns the join of the rows that any of the steps leads to. Uses a join instead of a subquery per row,
 * so that PostgreSQL can start at either end.
 */
export function joinedAlong(
  steps: readonly JoinStep[],
  target: ResourceDefinition,
  source: string,
  alias: string,
): Joined {
  const [first, ...others] = steps;
  const sourceId = ident(source, 'id');
  if (first?.kind === 'forward' && others.length === 0) {
    return joinedBy(target, alias, sql`${ident(alias, 'id')} = ${ident(source, first.column)}`);
  }
  if (first?.kind === 'back' && others.length === 0) {
    return joinedBy(target, alias, sql`${ident(alias, first.column)} = ${sourceId}`);
  }
  const link = `${alias}_link`;
  const pairs = join(steps.map(pairsOf), ' UNION ALL ');
  return {
    from: sql`(${pairs}) ${ident(link)}
      JOIN ${ident(target.table)} ${ident(alias)} ON ${ident(alias, 'id')} = ${ident(link, 'target_id')}`,
    where: sql`${ident(link, 'source_id')} = ${sourceId}`,
  };
}

/** Returns the query for the pairs of a step: `source_id` and `target_id`. */
function pairsOf(step: JoinStep): Sql {
  const pairs = (source: string, target: string, condition: Sql): Sql => sql`
    SELECT step.${ident(source)} AS source_id, step.${ident(target)} AS target_id
    FROM ${ident(step.table)} step WHERE ${condition}`;
  switch (step.kind) {
    case 'forward':
      return pairs('id', step.column, sql`step.${ident(step.column)} IS NOT NULL`);
    case 'back':
      return pairs(step.column, 'id', sql`step.${ident(step.column)} IS NOT NULL`);
    case 'link':
      return pairs(step.sourceColumn, step.targetColumn, fixedCondition('step', step.fixed));
  }
}
