import { ident, join, raw, sql, type Sql } from './sql.js';

/** Values by column name; `undefined` selects the default of the column. */
export type ColumnValues = Record<string, unknown>;

/** Returns the statement that inserts one row and returns the row. */
export function insertRow(table: string, values: ColumnValues): Sql {
  const columns = Object.keys(values).filter((column) => values[column] !== undefined);
  if (columns.length === 0) return sql`INSERT INTO ${ident(table)} DEFAULT VALUES RETURNING *`;
  return sql`
    INSERT INTO ${ident(table)} (${join(columns.map((column) => ident(column)))})
    VALUES (${join(columns.map((column) => sql`${values[column]}`))})
    RETURNING *`;
}

/** Returns the statement that updates one row by id and returns the row. */
export function updateRow(table: string, id: number, values: ColumnValues): Sql {
  const sets = Object.keys(values)
    .filter((column) => values[column] !== undefined)
    .map((column) => sql`${ident(column)} = ${values[column]}`);
  return sql`UPDATE ${ident(table)} SET ${join(sets)} WHERE id = ${id} RETURNING *`;
}

/**
 * Returns the statement that inserts many rows, with one array parameter per column: the number of
 * parameters, which PostgreSQL limits to 65,535, does not grow with the rows.
 *
 * @param columns column name to PostgreSQL type, in the order of each row's values
 */
export function insertRows(
  table: string,
  columns: Record<string, string>,
  rows: readonly (readonly unknown[])[],
): Sql {
  const names = Object.keys(columns);
  const arrays = names.map((name, index) => {
    const values = rows.map((row) => row[index]);
    return sql`${values}::${raw(columns[name] ?? 'text')}[]`;
  });
  return sql`
    INSERT INTO ${ident(table)} (${join(names.map((name) => ident(name)))})
    SELECT * FROM unnest(${join(arrays)})`;
}

/** Returns the statement that reserves `count` ids of a table for rows to insert later. */
export const takeIds = (table: string, count: number): Sql => sql`
  SELECT nextval(pg_get_serial_sequence(${table}, 'id')) AS id
  FROM generate_series(1, ${count}::int)`;
