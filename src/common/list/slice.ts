import { and, ident, sql, type Sql } from '../../database/sql.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { isBehind } from './cursor.js';
import { compileOrder, type OrderTerm } from './order.js';

/** Rows to skip from which on a page is found by ids first. */
export const DEEP = 1000;

/** The parts of a list's statements. */
export interface Cut {
  where: Sql;
  order: readonly OrderTerm[];
  /** Statement for the total. */
  count: Sql;
  /** The total is kept by the database and costs next to nothing. */
  isKept: boolean;
}

/** The first rows of a list, or the first behind a place; few are skipped. */
export function firstRows(
  definition: ResourceDefinition,
  columns: Sql,
  { where, order }: Cut,
  limit: number,
  place: Parameters<typeof isBehind>[1] | null = null,
  offset = 0,
): Sql {
  const condition = place ? and(where, isBehind(order, place)) : where;
  return sql`
    SELECT ${columns} FROM ${ident(definition.table)} t
    WHERE ${condition} ORDER BY ${compileOrder(order)} LIMIT ${limit} OFFSET ${offset}`;
}

/**
 * A page far from the start: the ids come from an index, the wide rows of the page alone are read.
 * Where the total is known the page is looked for from the nearer end.
 */
export function deepRows(
  definition: ResourceDefinition,
  columns: Sql,
  { where, order }: Cut,
  { offset, limit, total }: { offset: number; limit: number; total: number | null },
): Sql {
  const wanted = total === null ? limit : Math.min(limit, total - offset);
  const behind = total === null ? Infinity : total - offset - wanted;
  const reversed = behind < offset;
  const table = ident(definition.table);
  return sql`
    SELECT ${columns} FROM (
      SELECT t.id FROM ${table} t WHERE ${where}
      ORDER BY ${compileOrder(order, { reversed })}
      LIMIT ${wanted} OFFSET ${reversed ? behind : offset}) AS page
    JOIN ${table} t ON t.id = page.id ORDER BY ${compileOrder(order)}`;
}
