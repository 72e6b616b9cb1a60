import { Column, Index } from 'typeorm';
import { GeneratedId, ownColumns, tableNameOf } from '../../database/table.js';
import type { Policy } from '../access.js';
import { existing } from '../invariants.js';

/**
 * Row totals maintained by the database. The `total` of each row of `table` is the number of counted rows
 * that have the same values in `columns`, which maps columns of the counted rows to columns of `table`. If
 * the read rule, filters and parent of a list depend on these columns only, the list is counted from the
 * totals.
 */
export interface StoredTotals {
  table: string;
  total: string;
  columns: Readonly<Record<string, string>>;
  /**
   * Read rule of the counted rows, if `columns` belong to a parent of the counted rows, such as the run of
   * an event. Filters and parents refer to the rows themselves, so these totals apply to unfiltered lists
   * only.
   */
  rule?: Policy['read'];
}

/** Base of tables with totals. Triggers maintain them (docs/decisions/0110-kept-totals.md). */
export abstract class TotalRow {
  @GeneratedId()
  id!: number;

  /** Text of all other columns except the total. Several rows can have one key: their sum is the total. */
  @Column('text')
  @Index()
  key!: string;

  @Column('bigint')
  total!: number;
}

/** Returns the totals of an entity whose columns have the names of the counted rows' columns. */
export function totalsBy(entity: typeof TotalRow): StoredTotals {
  const table = existing(tableNameOf(entity), 'totals have a table');
  const names = ownColumns(entity);
  return { table, total: 'total', columns: Object.fromEntries(names.map((name) => [name, name])) };
}
