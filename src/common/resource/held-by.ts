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

/** Columns of runs that name what they use. */
export type RunReference =
  | 'inventory_id'
  | 'organization_id'
  | 'project_id'
  | 'source_project_id'
  | 'unified_job_template_id';

/** Runs that have not ended. Implemented by the room of runs, for those before it too. */
export abstract class ActiveRuns {
  /** Names those that use one of some objects, as `heldBy` does; null when none does. */
  abstract namesOfActive(
    references: readonly RunReference[],
    ids: readonly number[],
  ): Promise<string | null>;
}

/** @throws Conflict, naming them, while runs that have not ended use one of some objects */
export async function assertNoActiveRuns(
  runs: ActiveRuns,
  references: readonly RunReference[],
  ids: readonly number[],
): Promise<void> {
  const names = await runs.namesOfActive(references, ids);
  if (names !== null) throw new Conflict(`Resource is being used by running jobs: ${names}.`);
}
