import type { Database } from '../../database/database.js';
import { sql, type Sql } from '../../database/sql.js';
import { Conflict } from '../errors/errors.js';

const MOST_NAMED = 5;

/**
 * Names what stands in the way of a deletion, in order of id: `job 5, project update 7 and 3 more`.
 *
 * @param rows query for `id` and `type` of what does
 * @returns null when nothing does
 */
export async function heldBy(database: Database, rows: Sql): Promise<string | null> {
  const found = await database.rows<{ id: number; type: string; total: number }>(sql`
    SELECT id, type, (count(*) OVER ())::int AS total FROM (${rows}) held
    ORDER BY id LIMIT ${MOST_NAMED}`);
  const [first] = found;
  if (!first) return null;
  const names = found.map(({ id, type }) => `${type.replaceAll('_', ' ')} ${id}`).join(', ');
  const others = first.total - found.length;
  return others > 0 ? `${names} and ${others} more` : names;
}

/** @throws Conflict, naming them, while runs that a condition on `unified_jobs` picks have not ended */
export async function assertNoActiveRuns(database: Database, condition: Sql): Promise<void> {
  const runs = await heldBy(
    database,
    sql`
      SELECT id, type FROM unified_jobs
      WHERE status IN ('new', 'pending', 'waiting', 'running') AND (${condition})`,
  );
  if (runs !== null) throw new Conflict(`Resource is being used by running jobs: ${runs}.`);
}
