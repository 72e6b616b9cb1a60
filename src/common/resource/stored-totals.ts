import { Column, Index } from 'typeorm';
import { GeneratedId, ownColumns, tableNameOf } from '../../database/table.js';
import type { Policy } from '../access.js';
import { existing } from '../invariants.js';

/**
 * Row totals maintained by the database: each row of `table` counts in `total` the rows whose values
 * equal all of `columns`, given as the column of the counted rows. A list whose read rule, filters and
 * parent depend on these columns only is counted from the totals, whatever its size.
 */
export interface StoredTotals {
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

/** Base of tables with totals. Triggers maintain them (docs/decisions/0110-kept-totals.md). */
export abstract class TotalRow {
  @GeneratedId()
  id!: number;

  /**
   * Text of all other columns except the total. Several rows can have the same key; their sum counts.
   */
  @Column('text')
  @Index()
  key!: string;

  @Column('bigint')
  total!: number;
}

/** Returns the totals of an entity, whose own columns are those of the counted rows. */
export function totalsBy(entity: typeof TotalRow): StoredTotals {
  const table = existing(tableNameOf(entity), 'totals have a table');
  const names = ownColumns(entity);
  return { table, total: 'total', columns: Object.fromEntries(names.map((name) => [name, name])) };
}
