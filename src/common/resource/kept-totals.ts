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
 * Declares totals by the object of one reference alone; a trigger on its table keeps them
 * (docs/decisions/0110-totals-of-what-runs-leave.md).
 */
export function totalsBy(table: string, column: string): KeptTotals {
  defineTable({
    name: table,
    columns: {
      id: { type: 'integer', primary: true, identity: true },
      /** What follows, as text; several rows may have the same, and their sum is meant. */
      key: { type: 'text' },
      [column]: { type: 'integer', nullable: true },
      total: { type: 'bigint' },
    },
    indexes: [{ name: `${table}_key_idx`, columns: ['key'] }],
  });
  return { table, total: 'total', columns: { [column]: column } };
}
