import type { Extension, RepresentContext, Row } from '../common/resource/define-resource.js';
import { InstancesRepository } from './instances.repository.js';
import { WorkerNodesRepository } from './worker-nodes.repository.js';

/** What the live workers can take and what they have, counted as the scheduler counts. */
export async function instanceGroupExtension(
  rows: readonly Row[],
  { find }: RepresentContext,
): Promise<Map<number, Extension>> {
  const load = await find(WorkerNodesRepository).load();
  const { capacity, consumed_capacity: used } = load;
  const fields = { ...load, percent_capacity_remaining: freePercent(capacity, used) };
  return new Map(rows.map(({ id }) => [id, { fields }]));
}

const LOST = 'No worker of this machine has been heard of lately.';

/** What the live workers of each machine can take, and what it has run. */
export async function instanceExtension(
  rows: readonly Row[],
  { find }: RepresentContext,
): Promise<Map<number, Extension>> {
  const loads = await find(InstancesRepository).loads(rows.map(({ id }) => id));
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
