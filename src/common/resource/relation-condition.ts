import { FALSE, ident, raw, sql, type Sql } from '../../database/sql.js';
import type { Relation } from './define-resource.js';
import { resource } from './registry.js';

/** Returns the SQL condition between a row of `near` and a row of a relation's target. */
export function relationCondition(relation: Relation, near: Sql, far: string): Sql {
  switch (relation.kind) {
    case 'has-many': {
      const column = relation.target().field(relation.field)?.column ?? relation.field;
      return sql`${ident(far, column)} = ${near}`;
    }
    case 'many-to-many':
      return sql`EXISTS (
        SELECT 1 FROM ${ident(relation.table)} lnk
        WHERE lnk.${ident(relation.near)} = ${near}
          AND lnk.${ident(relation.far)} = ${ident(far, 'id')}
          ${fixedCondition(relation.fixed)})`;
    case 'computed':
      return relation.condition(near, far);
  }
}

/** Declares a relation that is always empty, for clients that filter by its name. */
export const leadsNowhere = (type: string): Relation => ({
  kind: 'computed',
  target: () => resource(type),
  condition: () => FALSE,
  single: true,
});

function fixedCondition(fixed: Record<string, string> = {}): Sql {
  return Object.entries(fixed).reduce(
    (all, [column, value]) => sql`${all} AND lnk.${ident(column)} = ${value}`,
    raw(''),
  );
}
