import { existing } from '../common/invariants.js';
import type { Extension, RepresentContext, Row } from '../common/resource/define-resource.js';
import { NODE_LOST_SECONDS } from '../jobs/worker/worker-node.js';
import { sql } from '../database/sql.js';

interface Load {
  capacity: number;
  instances: number;
  consumed_capacity: number;
  jobs_running: number;
  jobs_total: number;
}

/** What the live workers can take and what they have, counted as the scheduler counts. */
export async function capacityExtension(
  rows: readonly Row[],
  { database }: RepresentContext,
): Promise<Map<number, Extension>> {
  const load = existing(
    await database.row<Load>(sql`
    SELECT coalesce(sum(capacity), 0)::int AS capacity, count(*)::int AS instances,
      (SELECT count(*)::int FROM unified_jobs
        WHERE status IN ('waiting', 'running') AND launch_type <> 'sync') AS consumed_capacity,
      (SELECT count(*)::int FROM unified_jobs WHERE status = 'running') AS jobs_running,
      (SELECT count(*)::int FROM unified_jobs WHERE type = 'job') AS jobs_total
    FROM worker_nodes
    WHERE last_seen > now() - make_interval(secs => ${NODE_LOST_SECONDS})`),
    'an aggregate has a row',
  );
  const { capacity, consumed_capacity: used } = load;
  const free = capacity === 0 ? 0 : Math.max(0, (100 * (capacity - used)) / capacity);
  const fields = { ...load, percent_capacity_remaining: Math.round(free * 100) / 100 };
  return new Map(rows.map(({ id }) => [id, { fields }]));
}
