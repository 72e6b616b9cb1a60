import { Injectable } from '@nestjs/common';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext } from '../common/resource/extension.js';
import type { InstanceGroup } from './instance-group.entity.js';
import { DEFAULT_GROUP } from './instance-groups.repository.js';
import { InstancesRepository } from './instances.repository.js';
import { LOST, WorkerNodesRepository, type InstallationLoad } from './worker-nodes.repository.js';

/** Adds the capacity and usage of instance groups; every instance belongs to the default group. */
@Injectable()
export class InstanceGroupExtension {
  constructor(private readonly workers: WorkerNodesRepository) {}

  async extend(
    rows: readonly RowOf<InstanceGroup>[],
    { together }: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const others = rows.filter(({ name }) => name !== DEFAULT_GROUP).map(({ id }) => id);
    const loads = await together.ask<Row & InstallationLoad>(this.workers.loadOfGroups(others));
    const all = await this.workers.load();
    return new Map(
      rows.map(({ id }) => {
        const load = loads.find((one) => one.id === id) ?? all;
        const free = freePercent(load.capacity, load.consumed_capacity);
        return [id, { fields: { ...load, percent_capacity_remaining: free } }];
      }),
    );
  }
}

/** Adds the capacity of each machine's live workers, and the number of its runs. */
@Injectable()
export class InstanceExtension {
  constructor(private readonly instances: InstancesRepository) {}

  async extend(rows: readonly Row[]): Promise<Map<number, Extension>> {
    const loads = await this.instances.loads(rows.map(({ id }) => id));
    return new Map(
      loads.map(({ id, capacity: alive, enabled, isolation_detail, jobs_running, jobs_total }) => {
        const isReady = (alive ?? 0) > 0;
        const capacity = enabled ? (alive ?? 0) : 0;
        const fields = {
          node_type: 'execution',
          node_state: isReady ? 'ready' : 'unavailable',
          // A live worker without capacity is one that refuses to run without isolation.
          errors: isReady ? '' : alive === null ? LOST : isolation_detail,
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
}

/** Returns the free percentage of a capacity, 0 to 100, with two decimal places. */
function freePercent(capacity: number, used: number): number {
  const free = capacity === 0 ? 0 : Math.max(0, (100 * (capacity - used)) / capacity);
  return Math.round(free * 100) / 100;
}
