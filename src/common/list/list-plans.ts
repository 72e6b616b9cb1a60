import { and, FALSE, ident, join, sql, TRUE, type Sql } from '../../database/sql.js';
import { armsOf, permit, type Actor, type Policy } from '../access.js';
import type { HeldRoles } from '../held-roles.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import type { OrderTerm } from './order.js';
import { searchesTexts, type ListQuery } from './query.js';
import type { ListPlan } from './list-statements.js';
import type { StoredTotals } from '../resource/stored-totals.js';
import { resolveName } from './filter-compiler.js';

/**
 * Maximum number of visible rows for which a long table is searched by the caller's roles. Reading such a
 * table in list order until the page is full would read the whole table.
 */
export const FEW_ROWS = 200;

/** Inputs that decide which rows a list shows, and in which order. */
interface Options {
  query: ListQuery;
  /** Filters of the query, compiled for `t`. */
  filters: Sql;
  order: readonly OrderTerm[];
  /** Additional condition on `t`, for example the parent of a sub-list. */
  scope?: Sql | undefined;
  /** True if the scope depends on counted columns only. */
  counted?: boolean | undefined;
  /** Replacement for the visibility rule. */
  visible?: Sql | undefined;
  /** True if rows that lists normally hide are selected by id. */
  isById?: boolean;
  /** True without parameters for order, page size and limit. */
  isPlain?: boolean;
}

/**
 * Plans for reading a list: for callers who see many rows of the list, and for callers who see few rows,
 * if the list distinguishes these callers.
 */
export interface ListPlans {
  many: ListPlan;
  /**
   * `visibleCount`: statement for the number of rows that the caller sees, regardless of filters. `planOf`
   * returns the plan for the caller's roles; if `heldRoles` is null, its statements query the roles.
   */
  few: { planOf: (heldRoles: HeldRoles | null) => ListPlan; visibleCount: Sql } | null;
}

export function plansOf(definition: ResourceDefinition, actor: Actor, options: Options): ListPlans {
  const { query, filters, order, scope, isById } = options;
  const visibleUnder = (policy: Policy): Sql =>
    and(scope ?? TRUE, options.visible ?? permit(policy, 'list', 't', actor));
  const ownRows = and(definition.partCondition('t'), variantCondition(definition));
  const limits = and(ownRows, isById ? TRUE : (definition.unhidden?.('t') ?? TRUE), filters);
  const visible = visibleUnder(definition.policy);
  const { counter } = definition;
  const countedRows = counter?.rule ? visibleUnder({ read: counter.rule }) : visible;
  // Maintained totals apply unless the scope depends on columns that they do not have.
  const isWhole = scope === undefined || options.counted;
  const stored = isWhole ? storedTotal(definition, query, and(limits, countedRows)) : null;
  const visibleRows = and(limits, visible);
  // If no row matches, a long table would be read to its end.
  const hasRows = stored && visible !== TRUE ? sql`(${stored}) > 0` : TRUE;
  const shared: Omit<ListPlan, 'where'> = {
    order,
    count: stored ?? countRows(definition, visibleRows),
    isStored: stored !== null,
    isStable: options.isPlain === true && filters === TRUE && scope === undefined,
    isSubquery: searchesTexts(query),
    isFoundOnce: searchesTexts(query) && stored === null,
  };
  // Only an unscoped list with totals, of which the caller cannot see all rows, has a plan for few rows.
  if (!counter || visible === TRUE || scope || options.visible) {
    return { many: { ...shared, where: and(visibleRows, hasRows) }, few: null };
  }
  const visibleCount = sumTotals(counter, and(ownRows, countedRows));
  const isMany = sql`(${visibleCount}) > ${FEW_ROWS}`;
  const planOf = (heldRoles: HeldRoles | null): ListPlan => {
    const where = and(limits, isVisible(definition, heldRoles ? { ...actor, heldRoles } : actor));
    const count = countRows(definition, where);
    return { ...shared, where, count, isStored: false, isStable: false, isFoundOnce: true };
  };
  return {
    many: { ...shared, where: and(visibleRows, filters === TRUE ? TRUE : hasRows, isMany) },
    few: { planOf, visibleCount },
  };
}

/** Limits a list of several types to these types. Other types can share the table. */
const variantCondition = ({ variants }: ResourceDefinition): Sql =>
  variants
    ? sql`t.type = ANY(${variants().map(({ discriminator }) => discriminator)}::text[])`
    : TRUE;

/**
 * Returns the visibility condition with each alternative of the rule as a separate query, so that each
 * uses its own index.
 */
function isVisible({ policy, table, partCondition }: ResourceDefinition, actor: Actor): Sql {
  const arms = armsOf(policy.list ?? policy.read)
    .map((arm) => and(partCondition('x'), arm('x', actor)))
    .filter((condition) => condition !== FALSE)
    .map((condition) => sql`SELECT x.id FROM ${ident(table)} x WHERE ${condition}`);
  return arms.length === 0 ? FALSE : sql`t.id = ANY(ARRAY(${join(arms, ' UNION ALL ')}))`;
}

const countRows = (definition: ResourceDefinition, where: Sql): Sql => sql`
  SELECT count(*)::int AS count FROM ${ident(definition.table)} t WHERE ${where}`;

/**
 * Returns the statement for the total of a list from its maintained totals (`ResourceOptions.counter`),
 * or null if the rows must be counted.
 *
 * @param where condition on `t` that limits the counted rows
 */
function storedTotal(definition: ResourceDefinition, query: ListQuery, where: Sql): Sql | null {
  const { counter, unhidden } = definition;
  if (!counter || unhidden) return null;
  const { columns, rule } = counter;
  return filtersOnlyBy(definition, query, rule ? {} : columns) ? sumTotals(counter, where) : null;
}

/**
 * Returns the statement for the sum of maintained totals.
 *
 * @param where condition on `t`
 */
function sumTotals({ table, columns, total }: StoredTotals, where: Sql): Sql {
  const totalColumns = Object.entries(columns).map(
    ([column, totalColumn]) => sql`${ident(totalColumn)} AS ${ident(column)}`,
  );
  return sql`
    SELECT COALESCE(sum(t.row_total), 0)::bigint AS count
    FROM (SELECT ${join([...totalColumns, sql`${ident(total)} AS row_total`])} FROM ${ident(table)}) t
    WHERE ${where}`;
}

/**
 * Returns true if the filters of a query use only some columns of the rows, so that another table with
 * these columns can be queried instead. Filters through references in these columns are included.
 */
function filtersOnlyBy(
  definition: ResourceDefinition,
  query: ListQuery,
  columns: Readonly<Record<string, string>>,
): boolean {
  if (query.search.length > 0 || query.expressions.length > 0 || query.roleLevel !== null) {
    return false;
  }
  if (query.types.length > 0 && definition.variants && !Object.hasOwn(columns, 'type'))
    return false;
  return [...query.all, ...query.any, ...query.chained].every(({ path: [first = ''] }) => {
    const name = resolveName(definition, first);
    const column = definition.field(name)?.column;
    return (
      typeof column === 'string' &&
      Object.hasOwn(columns, column) &&
      !Object.hasOwn(definition.relations, name)
    );
  });
}
