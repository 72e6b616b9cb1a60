import { and, ident, join, sql, TRUE, type Sql } from '../../database/sql.js';
import type { ResourceDefinition } from './define-resource.js';
import type { Link } from './select-rows.js';

/**
 * Step of a join between two tables: by a column of the near table, by a column of the far table, or by a
 * link table.
 */
export type JoinStep =
  | { kind: 'forward'; table: string; column: string }
  | { kind: 'back'; table: string; column: string }
  | ({ kind: 'link' } & Pick<Link, 'table' | 'near' | 'far' | 'fixed'>);

/** Tables of a statement that finds related rows, and the condition that joins them to a row. */
export interface Joined {
  from: Sql;
  where: Sql;
}

/** Returns the step in the opposite direction. */
export function reversed(tie: JoinStep): JoinStep {
  switch (tie.kind) {
    case 'forward':
      return { ...tie, kind: 'back' };
    case 'back':
      return { ...tie, kind: 'forward' };
    case 'link':
      return { ...tie, near: tie.far, far: tie.near };
  }
}

export const distinct = (ties: readonly JoinStep[]): JoinStep[] => [
  ...new Map(
    ties.map((tie) => [
      tie.kind === 'link'
        ? `${tie.table} ${tie.near} ${JSON.stringify(tie.fixed)}`
        : `${tie.kind} ${tie.table} ${tie.column}`,
      tie,
    ]),
  ).values(),
];

/** Returns the join of a target's rows by a condition. */
export const joinedBy = (target: ResourceDefinition, far: string, where: Sql): Joined => ({
  from: sql`${ident(target.table)} ${ident(far)}`,
  where,
});

/**
 * Returns the join of the rows that any of the steps leads to. Uses a join instead of a subquery per row,
 * so that PostgreSQL can start at either end.
 */
export function joinedAlong(
  ties: readonly JoinStep[],
  target: ResourceDefinition,
  near: string,
  far: string,
): Joined {
  const [first, ...others] = ties;
  const nearId = ident(near, 'id');
  if (first?.kind === 'forward' && others.length === 0) {
    return joinedBy(target, far, sql`${ident(far, 'id')} = ${ident(near, first.column)}`);
  }
  if (first?.kind === 'back' && others.length === 0) {
    return joinedBy(target, far, sql`${ident(far, first.column)} = ${nearId}`);
  }
  const link = `${far}_link`;
  const pairs = join(ties.map(pairsOf), ' UNION ALL ');
  return {
    from: sql`(${pairs}) ${ident(link)}
      JOIN ${ident(target.table)} ${ident(far)} ON ${ident(far, 'id')} = ${ident(link, 'far_id')}`,
    where: sql`${ident(link, 'near_id')} = ${nearId}`,
  };
}

/** Returns the query for the pairs of a step: `near_id` and `far_id`. */
function pairsOf(tie: JoinStep): Sql {
  const pairs = (near: string, far: string, condition: Sql): Sql => sql`
    SELECT tie.${ident(near)} AS near_id, tie.${ident(far)} AS far_id
    FROM ${ident(tie.table)} tie WHERE ${condition}`;
  switch (tie.kind) {
    case 'forward':
      return pairs('id', tie.column, sql`tie.${ident(tie.column)} IS NOT NULL`);
    case 'back':
      return pairs(tie.column, 'id', sql`tie.${ident(tie.column)} IS NOT NULL`);
    case 'link':
      return pairs(tie.near, tie.far, fixedBy(tie.fixed));
  }
}

const fixedBy = (fixed: Record<string, string> = {}): Sql =>
  Object.entries(fixed).reduce(
    (all, [column, value]) => and(all, sql`tie.${ident(column)} = ${value}`),
    TRUE,
  );
