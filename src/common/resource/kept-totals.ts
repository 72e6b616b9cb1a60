import { defineTable } from '../../database/table.js';
import type { Policy } from '../access.js';

/**
 * Totals of rows that the database keeps: each row of `table` counts in `total` the rows that agree with
 * it in all of `columns`, given by the column of the rows. A list whose rule, filters and parent speak of
 * these columns alone is counted from there, whatever its size.
 */
export interface KeptTotals {
  table: string;
  total: string;
  columns: Readonly<Record<string, string>>;
  /**
   * Who sees the rows that are counted, where `columns` are those of what the rows belong to: runs, for
   * their events. Filters and parents speak of the rows, so that such totals answer for whole lists alone.
   */
  rule?: Policy['read'];
}

/**
 * Declares totals by columns of the rows alone; triggers on their table keep them
 * (docs/decisions/0110-totals-of-what-runs-leave.md).
 *
 * @param columns their types, by name
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
      /** What follows but the total, in one text; several rows may have the same, and their sum is meant. */
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
