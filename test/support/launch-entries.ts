import { sql } from '../../src/database/sql.js';
import type { Database } from '../../src/database/database.js';

/** Returns the kinds of the runs whose creation is in the activity stream, in the order of the ids. */
export async function recordedKinds(
  database: Database,
  ids: readonly unknown[],
): Promise<string[]> {
  const rows = await database.rows<{ object1: string }>(sql`
    SELECT object1 FROM activity_stream
    WHERE operation = 'create' AND object1_id = ANY(${ids.map(Number)}::bigint[])
      AND object1 IN ('job', 'workflow_job', 'project_update', 'inventory_update')
    ORDER BY object1_id`);
  return rows.map(({ object1 }) => object1);
}
