import { defineTable } from '../../database/table.js';
import type { Policy } from '../access.js';

/**
 * Row totals maintained by the database: each row of `table` counts in `total` the rows whose values
 * equal all of `columns`, given as the column of the counted rows. A list whose read rule, filters and
 * parent depend on these columns only is counted from the totals, whatever its size.
 */
export interface KeptTotals {
  table: string;
  total: string;
  columns: Readonly<Record<string, string>>;
  /**
   * Read rule of the counted rows, if `columns` belong to a parent of the counted rows: runs, for their
   * events. Filters and parents concern the rows themselves, so these totals apply to unfiltered lists
   * only.
   */
  rule?: Policy['read'];
}

/**
 * Declares totals by columns of the counted rows. Triggers on their table maintain the totals
 * (docs/decisions/0110-kept-totals.md).
 *
 * @param columns column types by name
 */
export function totalsBy(
  table: string,
  columns: Readonly<Record<string, 'integer' | 'bigint' | 'text'>>,
): KeptTotals {
  const names = Object.keys(columns);
  defineTable({
    name: table,
    columns: {
      id: { type: 'integer', primary: true, identity: true },
      /**
       * Text of all other columns except the total. Several rows can have the same key; their sum counts.
       */
      key: { type: 'text' },
      ...Object.fromEntries(
        Object.entries(columns).map(([name, type]) => [name, { type, nullable: true }]),
      ),
      total: { type: 'bigint' },
    },
    indexes: [{ name: `${table}_key_idx`, columns: ['key'] }],
  });
  return { table, total: 'total', columns: Object.fromEntries(names.map((name) => [name, name])) };
}
