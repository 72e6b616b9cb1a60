/**
 * Totals of rows that the database keeps: each row of `table` counts in `total` the rows that agree with
 * it in all of `columns`, given by the column of the rows. A list whose rule, filters and parent speak of
 * these columns alone is counted from there, whatever its size.
 */
export interface KeptTotals {
  table: string;
  total: string;
  columns: Readonly<Record<string, string>>;
}
