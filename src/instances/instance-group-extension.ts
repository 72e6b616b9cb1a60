import { existing } from '../common/invariants.js';
import type { Extension, RepresentContext, Row } from '../common/resource/define-resource.js';
import { NODE_LOST_SECONDS } from './worker-node-table.js';
import { sql } from '../database/sql.js';

interface Load {
  capacity: number;
  instances: number;
  consumed_capacity: number;
  jobs_running: number;
  jobs_total: number;
}

/** What the live workers can take and what they have, counted as the scheduler counts. */
export async function instanceGroupExtension(
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
  const fields = { ...load, percent_capacity_remaining: freePercent(capacity, used) };
  return new Map(rows.map(({ id }) => [id, { fields }]));
}

interface InstanceLoad extends Row {
  /** Null when no worker is alive. */
  capacity: number | null;
  isolation_detail: string;
  jobs_running: number;
  jobs_total: number;
}

const LOST = 'No worker of this machine has been heard of lately.';

/** What the live workers of each machine can take, and what it has run. */
export async function instanceExtension(
  rows: readonly Row[],
  { database }: RepresentContext,
): Promise<Map<number, Extension>> {
  const loads = await database.rows<InstanceLoad>(sql`
    SELECT one.id, one.isolation_detail,
      (SELECT sum(node.capacity)::int FROM worker_nodes node
        WHERE node.hostname = one.hostname
          AND node.last_seen > now() - make_interval(secs => ${NODE_LOST_SECONDS})) AS capacity,
      count(run.id) FILTER (WHERE run.status IN ('waiting', 'running'))::int AS jobs_running,
      count(run.id)::int AS jobs_total
    FROM instances one LEFT JOIN unified_jobs run
      ON run.execution_node = one.hostname AND run.execution_node <> ''
    WHERE one.id = ANY(${rows.map(({ id }) => id)}::int[]) GROUP BY one.id`);
  return new Map(
    loads.map(({ id, capacity: alive, isolation_detail: refusal, jobs_running, jobs_total }) => {
      const capacity = alive ?? 0;
      const fields = {
        node_type: 'execution',
        node_state: capacity > 0 ? 'ready' : 'unavailable',
        // A worker that is alive and takes nothing refuses to run without isolation.
        errors: capacity > 0 ? '' : alive === null ? LOST : refusal,
        capacity,
        consumed_capacity: jobs_running,
        percent_capacity_remaining: freePercent(capacity, jobs_running),
        jobs_running,
        jobs_total,
      };
      return [id, { fields }];
    }),
  );
}

/** Free part of a capacity, 0 to 100, with two places. */
function freePercent(capacity: number, used: number): number {
  const free = capacity === 0 ? 0 : Math.max(0, (100 * (capacity - used)) / capacity);
  return Math.round(free * 100) / 100;
}
