import type {
  Extension,
  RepresentContext,
  Row,
  RowOf,
} from '../common/resource/define-resource.js';
import type { InstanceGroup } from './instance-group.entity.js';
import { DEFAULT_GROUP, membersOfGroups } from './instance-groups.repository.js';
import { InstancesRepository } from './instances.repository.js';
import { LOST, WorkerNodesRepository } from './worker-nodes.repository.js';

/** Values of groups other than the default group: runs are not placed by group. */
const UNUSED = { capacity: 0, consumed_capacity: 0, jobs_running: 0, jobs_total: 0, instances: 0 };

/**
 * Returns the capacity and usage of instance groups, with the scheduler's count for the default
 * group.
 */
export async function instanceGroupExtension(
  rows: readonly RowOf<InstanceGroup>[],
  { find, together }: RepresentContext,
): Promise<Map<number, Extension>> {
  const members = await together.ask<Row & { instances: number }>(
    membersOfGroups(rows.map(({ id }) => id)),
  );
  const load = await find(WorkerNodesRepository).load();
  return new Map(
    rows.map(({ id, name }) => {
      const own = members.find((one) => one.id === id)?.instances ?? 0;
      const all = name === DEFAULT_GROUP ? load : { ...UNUSED, instances: own };
      const { capacity, consumed_capacity: used } = all;
      return [id, { fields: { ...all, percent_capacity_remaining: freePercent(capacity, used) } }];
    }),
  );
}

/** Returns the capacity of each machine's live workers, and the number of its runs. */
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
        // A live worker without capacity is one that refuses to run without isolation.
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

/** Returns the free percentage of a capacity, 0 to 100, with two decimal places. */
function freePercent(capacity: number, used: number): number {
  const free = capacity === 0 ? 0 : Math.max(0, (100 * (capacity - used)) / capacity);
  return Math.round(free * 100) / 100;
}
