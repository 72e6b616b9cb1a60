/**
 * Foreign keys of the migrated schema, and rows that refer to one object by each of them, so that tests of
 * deletion cover references added later.
 */
import { resource, type Row } from '../../src/common/resource/define-resource.js';
import type { Database } from '../../src/database/database.js';
import { ident, sql, type Sql } from '../../src/database/sql.js';
import type { Samples } from './samples.js';

/** Reference from `table` to the rows of `target`. */
export interface ForeignKey {
  name: string;
  table: string;
  column: string;
  target: string;
  /** Column of `target` with the values of `column`. */
  key: string;
  /**
   * Action on deletion as in `pg_constraint`. `c`: the row is deleted too; `n`: the reference becomes null.
   */
  onDelete: string;
  /** True if the check can be deferred to the end of a transaction. */
  deferrable: boolean;
}

export function foreignKeys(database: Database): Promise<ForeignKey[]> {
  return database.rows<ForeignKey & Row>(sql`
    SELECT con.conname AS name, con.conrelid::regclass::text AS table, att.attname AS column,
      con.confrelid::regclass::text AS target, key.attname AS key, con.confdeltype AS "onDelete",
      con.condeferrable AS deferrable
    FROM pg_constraint con
    JOIN pg_attribute att ON att.attrelid = con.conrelid AND att.attnum = con.conkey[1]
    JOIN pg_attribute key ON key.attrelid = con.confrelid AND key.attnum = con.confkey[1]
    WHERE con.contype = 'f' AND con.connamespace = 'public'::regnamespace
      -- Foreign keys of partitions repeat those of their table.
      AND con.conparentid = 0
    ORDER BY con.conrelid::regclass::text, att.attname`);
}

/** Last row of a table, or the last row of each kind in a shared table. */
interface LastRows {
  condition: Sql;
  /** Ids of the rows; empty for tables without ids, to which nothing can refer. */
  ids: readonly number[];
}

/**
 * Makes as many rows as possible refer to a sample and to the rows that are deleted with the sample.
 *
 * @returns names of the foreign keys without a row that refers to the sample
 */
export async function addReferences(samples: Samples, type: string): Promise<string[]> {
  const { database } = samples.test;
  const keys = await foreignKeys(database);
  const sample = [resource(type).table, (await samples.of(type)).id] as const;
  const deleted: (readonly [table: string, id: number])[] = [sample];
  const isDeleted = (table: string, id: number): boolean =>
    deleted.some(([name, key]) => name === table && key === id);
  const withoutRow: string[] = [];
  for (const [target, id] of deleted) {
    for (const { name, table, column, key, onDelete } of keys.filter(
      (foreignKey) => foreignKey.target === target,
    )) {
      const value = sql`(SELECT ${ident('to', key)} FROM ${ident(target)} "to" WHERE "to".id = ${id})`;
      const { condition, ids } = await lastRows(database, table);
      const remaining = ids.filter((row) => !isDeleted(table, row));
      const selected = ids.length > 0 ? sql`id = ANY(${remaining}::bigint[])` : condition;
      const refers = sql`SELECT 1 FROM ${ident(table)} WHERE ${ident(column)} = ${value}`;
      // In a table with a single row one reference suffices. A second reference may violate a unique key.
      const needed = remaining.length > 1 ? sql`TRUE` : sql`NOT EXISTS (${refers})`;
      await database.execute(sql`
        UPDATE ${ident(table)} SET ${ident(column)} = ${value} WHERE ${selected} AND ${needed}`);
      if (target === sample[0] && id === sample[1] && !(await database.row(refers)))
        withoutRow.push(name);
      if (onDelete === 'c') deleted.push(...remaining.map((row) => [table, row] as const));
    }
  }
  return withoutRow;
}

async function lastRows(database: Database, table: string): Promise<LastRows> {
  const columns = await database.rows<{ name: string }>(sql`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = ${table}::regclass AND attname IN ('id', 'type')`);
  const has = (column: string): boolean => columns.some(({ name }) => name === column);
  if (!has('id')) {
    return { condition: sql`ctid = (SELECT max(ctid) FROM ${ident(table)})`, ids: [] };
  }
  const kinds = has('type') ? sql`GROUP BY type` : sql`HAVING count(*) > 0`;
  const rows = await database.rows<{ id: number }>(
    sql`SELECT max(id) AS id FROM ${ident(table)} ${kinds}`,
  );
  const ids = rows.map(({ id }) => id);
  return { condition: sql`id = ANY(${ids}::bigint[])`, ids };
}
