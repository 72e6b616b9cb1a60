import { ident, sql, type Sql } from '../../database/sql.js';
import type { Relation } from './define-resource.js';
import { fixedCondition } from './select-rows.js';

/** Returns the SQL condition between the id of a row and an alias of a relation's target. */
export function relationCondition(relation: Relation, id: Sql, alias: string): Sql {
  switch (relation.kind) {
    case 'has-many': {
      const column = relation.target().field(relation.field)?.column ?? relation.field;
      return sql`${ident(alias, column)} = ${id}`;
    }
    case 'many-to-many':
      return sql`EXISTS (
        SELECT 1 FROM ${ident(relation.table)} lnk
        WHERE lnk.${ident(relation.sourceColumn)} = ${id}
          AND lnk.${ident(relation.targetColumn)} = ${ident(alias, 'id')}
          AND ${fixedCondition('lnk', relation.fixed)})`;
    case 'computed':
      return relation.condition(id, alias);
  }
}
