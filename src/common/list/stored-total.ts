import { ident, join, sql, type Sql } from '../../database/sql.js';
import type { StoredTotals } from '../resource/stored-totals.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { resolveName } from './filter-compiler.js';
import type { ListQuery } from './query.js';

/**
 * Returns the statement for the total of a list from its maintained totals (`ResourceOptions.counter`),
 * or null if the rows must be counted.
 *
 * @param where condition on `t` that limits the counted rows
 */
export function storedTotal(
  definition: ResourceDefinition,
  query: ListQuery,
  where: Sql,
): Sql | null {
  const { counter, unhidden } = definition;
  if (counter === null || unhidden !== null) return null;
  const { columns, rule } = counter;
  return filtersOnlyBy(definition, query, rule ? {} : columns) ? sumTotals(counter, where) : null;
}

/**
 * Returns the statement for the sum of maintained totals.
 *
 * @param where condition on `t`
 */
export function sumTotals({ table, columns, total }: StoredTotals, where: Sql): Sql {
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
