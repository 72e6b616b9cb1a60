import type { Database } from '../../database/database.js';
import { sql, type Sql } from '../../database/sql.js';
import { InUse } from '../errors/errors.js';

const MAX_NAMED = 5;

/** Maximum number of objects in a response. */
const MAX_LISTED = 100;

/** Objects that prevent a deletion. */
export interface Dependents {
  /** Text for error messages: `job 5, project update 7 and 3 more`. */
  readonly names: string;
  /** The first hundred objects, ordered by id. */
  readonly objects: readonly { readonly id: number; readonly type: string }[];
}

/**
 * Returns the objects that prevent a deletion, or null if there are none.
 *
 * @param rows query for their `id` and `type`
 */
export async function dependentsOf(database: Database, rows: Sql): Promise<Dependents | null> {
  const found = await database.rows<{ id: number; type: string; total: number }>(sql`
    SELECT id, type, (count(*) OVER ())::int AS total FROM (${rows}) dependent
    ORDER BY id LIMIT ${MAX_LISTED}`);
  const [first] = found;
  if (!first) return null;
  const named = found.slice(0, MAX_NAMED);
  const names = named.map(({ id, type }) => `${type.replaceAll('_', ' ')} ${id}`).join(', ');
  const others = first.total - named.length;
  return {
    names: others > 0 ? `${names} and ${others} more` : names,
    objects: found.map(({ id, type }) => ({ id, type })),
  };
}

/** Columns of runs that reference the objects that the run uses. */
export type RunReference =
  | 'instance_group_id'
  | 'inventory_id'
  | 'organization_id'
  | 'project_id'
  | 'source_project_id'
  | 'unified_job_template_id';

/**
 * Queries unfinished runs. Implemented by the feature `runs`, for the features that `runs` depends on.
 */
export abstract class ActiveRunsQuery {
  /** Returns the unfinished runs that use one of the objects, or null if there are none. */
  abstract activeRunsOf(
    references: readonly RunReference[],
    ids: readonly number[],
  ): Promise<Dependents | null>;
}

/** @throws InUse with the unfinished runs that use one of the objects */
export async function assertNoActiveRuns(
  runs: ActiveRunsQuery,
  references: readonly RunReference[],
  ids: readonly number[],
): Promise<void> {
  const dependents = await runs.activeRunsOf(references, ids);
  if (dependents) throw new InUse(dependents.names, dependents.objects);
}
