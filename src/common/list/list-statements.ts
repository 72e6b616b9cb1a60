import { and, ident, join, rowCount, sql, type Sql } from '../../database/sql.js';
import type { ResourceDefinition, Row } from '../resource/define-resource.js';
import { isAfter } from './cursor.js';
import { compileOrder, type OrderTerm } from './order.js';

/** Offset from which a page is found by ids first. */
export const DEEP = 1000;

/** Parts of a list's statements. */
export interface ListPlan {
  where: Sql;
  order: readonly OrderTerm[];
  /** Statement for the total. */
  count: Sql;
  /** True if the database maintains the total, which then costs almost nothing. */
  isStored: boolean;
  /**
   * True if matching rows are found before they are sorted. Reading an index in list order could skip most
   * rows.
   */
  isSubquery: boolean;
  /** True if one search finds both the page and its total. */
  isFoundOnce: boolean;
  /**
   * True if the result depends on the caller only, so that the statement is prepared and its plan reused.
   */
  isStable: boolean;
}

/** Column of the rows that contains the total of all pages. */
const TOTAL = 'list_total';

/** Returns the statement for the rows of the first page, each with the total of all pages. */
export const firstPage = (
  definition: ResourceDefinition,
  columns: Sql,
  plan: ListPlan,
  limit: number,
): Sql =>
  plan.isFoundOnce
    ? foundOnce(definition, columns, plan, limit)
    : firstRows(definition, sql`${columns}, (${plan.count}) AS ${ident(TOTAL)}`, plan, limit);

/**
 * Materializes only the ids and order values of all matching rows; reads the wide rows of the page only.
 */
function foundOnce(
  definition: ResourceDefinition,
  columns: Sql,
  { where, order }: ListPlan,
  limit: number,
): Sql {
  const namedTerms = order.map((term, index) => ({ ...term, alias: ident(`value_${index}`) }));
  const values = namedTerms.map(({ expression, alias }) => sql`${expression} AS ${alias}`);
  const foundOrder = namedTerms.map((term) => ({ ...term, expression: term.alias }));
  return sql`
    WITH found AS MATERIALIZED (
      SELECT ${join([sql`t.id`, ...values])} FROM ${tableWhere(definition, where)})
    SELECT ${columns}, (SELECT count(*)::int FROM found) AS ${ident(TOTAL)}
    FROM (SELECT id FROM found ORDER BY ${compileOrder(foundOrder)} LIMIT ${rowCount(limit)}) page
    JOIN ${ident(definition.table)} t ON t.id = page.id ORDER BY ${compileOrder(order)}`;
}

/** Returns the total in the rows of `firstPage`. Without rows the total is 0. */
export const totalOf = ([row]: readonly Row[]): number => Number(row?.[TOTAL] ?? 0);

const tableWhere = ({ table }: ResourceDefinition, condition: Sql): Sql =>
  sql`${ident(table)} t WHERE ${condition}`;

/** PostgreSQL plans a subquery with `OFFSET` separately. */
const subquery = (definition: ResourceDefinition, condition: Sql): Sql =>
  sql`(SELECT * FROM ${tableWhere(definition, condition)} OFFSET 0) t`;

/**
 * Returns the statement for the first rows of a list, or for the first rows after a position. The offset
 * must be small.
 */
export function firstRows(
  definition: ResourceDefinition,
  columns: Sql,
  { where, order, isSubquery }: ListPlan,
  limit: number,
  position: Parameters<typeof isAfter>[1] | null = null,
  offset = 0,
): Sql {
  const condition = position ? and(where, isAfter(order, position)) : where;
  const rows = sql`
    SELECT ${columns} FROM ${isSubquery ? subquery(definition, condition) : tableWhere(definition, condition)}
    ORDER BY ${compileOrder(order)} LIMIT ${rowCount(limit)}`;
  return offset > 0 ? sql`${rows} OFFSET ${offset}` : rows;
}

/**
 * Returns the statement for a page far from the start: the ids come from an index, and only the page's
 * wide rows are read. If the total is known, the search starts from the nearer end.
 */
export function deepRows(
  definition: ResourceDefinition,
  columns: Sql,
  { where, order }: ListPlan,
  { offset, limit, total }: { offset: number; limit: number; total: number | null },
): Sql {
  const rowLimit = total === null ? limit : Math.min(limit, total - offset);
  const following = total === null ? Infinity : total - offset - rowLimit;
  const reversed = following < offset;
  const table = ident(definition.table);
  return sql`
    SELECT ${columns} FROM (
      SELECT t.id FROM ${table} t WHERE ${where}
      ORDER BY ${compileOrder(order, { reversed })}
      LIMIT ${rowLimit} OFFSET ${reversed ? following : offset}) AS page
    JOIN ${table} t ON t.id = page.id ORDER BY ${compileOrder(order)}`;
}
