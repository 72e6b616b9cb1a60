/** Copies a row many times in SQL, with its roles and its links. */
import type { RoleStore } from '../../src/common/access.js';
import {
  resource,
  resources,
  type ResourceDefinition,
  type Row,
} from '../../src/common/resource/define-resource.js';
import type { Database } from '../../src/database/database.js';
import { ident, join, sql, type Sql } from '../../src/database/sql.js';
import { isLinked } from './samples.js';

/** Copies a row `count` times, with unique names, roles, and the links of the row. Returns the ids. */
export async function multiply(
  database: Database,
  roles: RoleStore,
  type: string,
  row: Row,
  count: number,
): Promise<number[]> {
  const definition = resource(type);
  const columns = await copiedColumns(database, definition);
  const list = join(
    columns.map(({ name }) => ident(name)),
    ', ',
  );
  const values = join(columns.map(valueOf), ', ');
  const copies = await database.rows<Row>(sql`
    INSERT INTO ${ident(definition.table)} (${list})
    SELECT ${values} FROM ${ident(definition.table)} src, generate_series(1, ${count}::int) AS copy (number)
    WHERE src.id = ${row.id} RETURNING *`);
  await database.transaction(async () => {
    await roles.createRoles(definition, copies);
    await copyLinks(database, definition, row, copies);
  });
  return copies.map(({ id }) => id);
}

/** Column that counts rows which a copy does not have. */
const COUNTER = 'event_total';

interface CopiedColumn {
  name: string;
  type: string;
  /** True for a column of a unique index that is not a reference: each copy needs a different value. */
  unique: boolean;
}

function copiedColumns(database: Database, { table }: ResourceDefinition): Promise<CopiedColumn[]> {
  return database.rows<CopiedColumn & Row>(sql`
    SELECT att.attname AS name, format_type(att.atttypid, NULL) AS type, EXISTS (
        SELECT 1 FROM pg_index ind
        WHERE ind.indrelid = att.attrelid AND ind.indisunique AND att.attnum = ANY(ind.indkey)
      ) AND NOT EXISTS (
        SELECT 1 FROM pg_constraint con
        WHERE con.conrelid = att.attrelid AND con.contype = 'f' AND att.attnum = ANY(con.conkey)
      ) AND att.attname <> 'type' AS "unique"
    FROM pg_attribute att
    WHERE att.attrelid = ${table}::regclass AND att.attnum > 0 AND NOT att.attisdropped
      AND att.attname NOT IN ('id', ${COUNTER}) AND att.attgenerated = ''`);
}

function valueOf({ name, type, unique }: CopiedColumn): Sql {
  const column = ident('src', name);
  if (unique && type === 'text') return sql`${column} || ' ' || copy.number`;
  return unique && ['integer', 'bigint'].includes(type) ? sql`${column} + copy.number` : column;
}

/** Copies the rows of link tables that refer to the row, from either side, for the copies. */
async function copyLinks(
  database: Database,
  { table }: ResourceDefinition,
  row: Row,
  copies: readonly Row[],
): Promise<void> {
  const ids = copies.map(({ id }) => id);
  const links = await database.rows<{ link: string; column: string; others: string[] }>(sql`
    SELECT con.conrelid::regclass::text AS link, att.attname AS column, (
      SELECT array_agg(other.attname::text) FROM pg_attribute other
      WHERE other.attrelid = con.conrelid AND other.attnum > 0
        AND other.attname NOT IN (att.attname, 'id', 'position')) AS others
    FROM pg_constraint con
    JOIN pg_attribute att ON att.attrelid = con.conrelid AND att.attnum = con.conkey[1]
    WHERE con.contype = 'f' AND con.confrelid = ${table}::regclass
      AND con.conrelid::regclass::text = ANY(${LINK_TABLES()}::text[])`);
  for (const { link, column, others } of links) {
    const rest = join(
      others.map((other) => ident(other)),
      ', ',
    );
    await database.execute(sql`
      INSERT INTO ${ident(link)} (${ident(column)}, ${rest})
      SELECT copy, ${rest} FROM ${ident(link)}, unnest(${ids}::bigint[]) AS copy
      WHERE ${ident(column)} = ${row.id} ON CONFLICT DO NOTHING`);
  }
}

const LINK_TABLES = (): string[] => [
  'role_members',
  ...resources().flatMap(({ relations }) =>
    Object.values(relations).flatMap((relation) => (isLinked(relation) ? [relation.table] : [])),
  ),
];
