import { and, FALSE, ident, sql, type Sql } from '../../database/sql.js';
import type { ResourceDefinition } from './define-resource.js';

const SEPARATOR = '++';

/**
 * Rows named by their natural key, as in `/teams/Ops++Default/`: the own name first, then those of
 * the parents the resource declares (core 1.1).
 */
export function naturalKeyCondition(
  definition: ResourceDefinition,
  alias: string,
  text: string,
): Sql {
  if (definition.naturalKey.length === 0 || text.length > 2048 || text.includes('\u0000')) {
    return FALSE;
  }
  const parts = text.split(SEPARATOR);
  const condition = consume(definition, alias, parts);
  return parts.length === 0 ? condition : FALSE;
}

function consume(definition: ResourceDefinition, alias: string, parts: string[]): Sql {
  return and(
    ...definition.naturalKey.map((name) => {
      const field = definition.field(name);
      if (!field?.column) return FALSE;
      const column = ident(alias, field.column);
      if (!field.target) {
        const part = parts.shift();
        return part === undefined ? FALSE : sql`${column} = ${part}`;
      }
      if (parts[0] === '' || parts.length === 0) {
        parts.shift();
        return sql`${column} IS NULL`;
      }
      const target = field.target();
      const far = `${alias}k`;
      return sql`${column} IN (
        SELECT ${ident(far, 'id')} FROM ${ident(target.table)} ${ident(far)}
        WHERE ${and(target.own(far), consume(target, far, parts))})`;
    }),
  );
}
