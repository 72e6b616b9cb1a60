import { and, ident, join, rowCount, sql, type Sql } from '../../database/sql.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';
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
  /** The rows are found first and ordered then: an index that has the order may lead past most rows. */
  isFenced: boolean;
  /** What is found is looked for once, for the page and for its total. */
  isFoundOnce: boolean;
  /** Only who asks decides what is found, so that one plan serves all: it is prepared. */
  isStable: boolean;
}

/** Column of the rows that carries the total of all pages. */
const TOTAL = 'list_total';

/** The rows of the first page, each with the total of all pages. */
export const firstPage = (
  definition: ResourceDefinition,
  columns: Sql,
  cut: Cut,
  limit: number,
): Sql =>
  cut.isFoundOnce
    ? foundOnce(definition, columns, cut, limit)
    : firstRows(definition, sql`${columns}, (${cut.count}) AS ${ident(TOTAL)}`, cut, limit);

/** Ids and what they are ordered by are kept of all that is found; the wide rows of the page are read. */
function foundOnce(
  definition: ResourceDefinition,
  columns: Sql,
  { where, order }: Cut,
  limit: number,
): Sql {
  const places = order.map((term, index) => ({ ...term, place: ident(`place_${index}`) }));
  const values = places.map(({ expression, place }) => sql`${expression} AS ${place}`);
  const kept = places.map((term) => ({ ...term, expression: term.place }));
  return sql`
    WITH found AS MATERIALIZED (
      SELECT ${join([sql`t.id`, ...values], ', ')} FROM ${found(definition, where)})
    SELECT ${columns}, (SELECT count(*)::int FROM found) AS ${ident(TOTAL)}
    FROM (SELECT id FROM found ORDER BY ${compileOrder(kept)} LIMIT ${rowCount(limit)}) page
    JOIN ${ident(definition.table)} t ON t.id = page.id ORDER BY ${compileOrder(order)}`;
}

/** The total that rows of `firstPage` carry; where there are none there are none on any page. */
export const totalOf = ([row]: readonly Row[]): number => Number(row?.[TOTAL] ?? 0);

const found = ({ table }: ResourceDefinition, condition: Sql): Sql =>
  sql`${ident(table)} t WHERE ${condition}`;

/** PostgreSQL plans what has an `OFFSET` for itself. */
const fenced = (definition: ResourceDefinition, condition: Sql): Sql =>
  sql`(SELECT * FROM ${found(definition, condition)} OFFSET 0) t`;

/** The first rows of a list, or the first behind a place; few are skipped. */
export function firstRows(
  definition: ResourceDefinition,
  columns: Sql,
  { where, order, isFenced }: Cut,
  limit: number,
  place: Parameters<typeof isBehind>[1] | null = null,
  offset = 0,
): Sql {
  const condition = place ? and(where, isBehind(order, place)) : where;
  const rows = sql`
    SELECT ${columns} FROM ${isFenced ? fenced(definition, condition) : found(definition, condition)}
    ORDER BY ${compileOrder(order)} LIMIT ${rowCount(limit)}`;
  return offset > 0 ? sql`${rows} OFFSET ${offset}` : rows;
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
