import type { Database } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';

/** Returns the names that plans contain for a table: the table and its partitions. */
export async function partsOf(
  database: Database,
  table: string,
): Promise<ReadonlySet<string | undefined>> {
  const parts = await database.rows<{ part: string }>(sql`
    SELECT relid::text AS part FROM pg_partition_tree(${table}::regclass)`);
  return new Set([table, ...parts.map(({ part }) => part)]);
}
