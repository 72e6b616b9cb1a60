import type { Database } from '../../database/database.js';
import { sql, type Sql } from '../../database/sql.js';
import { InUse } from '../errors/errors.js';

const MOST_NAMED = 5;

/** Most objects that an answer lists. */
const MOST_LISTED = 100;

/** Objects that stand in the way of a deletion. */
export interface Holders {
  /** For people: `job 5, project update 7 and 3 more`. */
  readonly names: string;
  /** The first hundred, in order of id. */
  readonly objects: readonly { readonly id: number; readonly type: string }[];
}

/**
 * Returns the objects that stand in the way of a deletion, null without any.
 *
 * @param rows query for their `id` and `type`
 */
export async function heldBy(database: Database, rows: Sql): Promise<Holders | null> {
  const found = await database.rows<{ id: number; type: string; total: number }>(sql`
    SELECT id, type, (count(*) OVER ())::int AS total FROM (${rows}) held
    ORDER BY id LIMIT ${MOST_LISTED}`);
  const [first] = found;
  if (!first) return null;
  const named = found.slice(0, MOST_NAMED);
  const names = named.map(({ id, type }) => `${type.replaceAll('_', ' ')} ${id}`).join(', ');
  const others = first.total - named.length;
  return {
    names: others > 0 ? `${names} and ${others} more` : names,
    objects: found.map(({ id, type }) => ({ id, type })),
  };
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
  /** Returns those that use one of some objects; null when none does. */
  abstract activeRunsOf(
    references: readonly RunReference[],
    ids: readonly number[],
  ): Promise<Holders | null>;
}

/** @throws InUse, naming them, while runs that have not ended use one of some objects */
export async function assertNoActiveRuns(
  runs: ActiveRuns,
  references: readonly RunReference[],
  ids: readonly number[],
): Promise<void> {
  const holders = await runs.activeRunsOf(references, ids);
  if (holders) throw new InUse(holders.names, holders.objects);
}
