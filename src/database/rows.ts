import type { EntityMetadata } from 'typeorm';
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
 * Returns the statement that inserts many rows, which have the columns of the first one. Each column is one
 * array parameter: the number of parameters, which PostgreSQL limits to 65,535, does not grow with the rows.
 */
export function insertRows(entity: EntityMetadata, rows: readonly ColumnValues[]): Sql {
  const names = Object.keys(rows[0] ?? {});
  const arrays = names.map((name) => {
    const type = entity.findColumnWithDatabaseName(name)?.type;
    return sql`${rows.map((row) => row[name])}::${raw(String(type))}[]`;
  });
  return sql`
    INSERT INTO ${ident(entity.tableName)} (${join(names.map((name) => ident(name)))})
    SELECT * FROM unnest(${join(arrays)})`;
}

/** Returns the statement that reserves `count` ids of a table for rows to insert later. */
export const takeIds = (table: string, count: number): Sql => sql`
  SELECT nextval(pg_get_serial_sequence(${table}, 'id')) AS id
  FROM generate_series(1, ${count}::int)`;
