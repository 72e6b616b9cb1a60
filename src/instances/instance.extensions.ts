import { Injectable } from '@nestjs/common';
import { extendEach, type Row, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext } from '../common/resource/extension.js';
import type { Instance } from './instance.entity.js';
import type { InstanceGroup } from './instance-group.entity.js';
import { DEFAULT_GROUP } from './instance-groups.repository.js';
import { InstancesRepository } from './instances.repository.js';
import { WorkerNodesRepository, type InstallationLoad } from './worker-nodes.repository.js';

/** Adds the capacity and usage of instance groups; every instance belongs to the default group. */
@Injectable()
export class InstanceGroupExtension {
  constructor(private readonly workers: WorkerNodesRepository) {}

  async extend(
    rows: readonly RowOf<InstanceGroup>[],
    { batch }: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const others = rows.filter(({ name }) => name !== DEFAULT_GROUP).map(({ id }) => id);
    const loads = await batch.rows<Row & InstallationLoad>(this.workers.loadOfGroups(others));
    const all = await this.workers.load();
    return extendEach(rows, ({ id }) => {
      const load = loads.find(({ id: groupId }) => groupId === id) ?? all;
      const free = freePercent(load.capacity, load.consumed_capacity);
      return { fields: { ...load, percent_capacity_remaining: free } };
    });
  }
}

/** Adds the state, capacity and runs of each machine. Clients expect decimals as texts. */
@Injectable()
export class InstanceExtension {
  constructor(private readonly instances: InstancesRepository) {}

  async extend(rows: readonly RowOf<Instance>[]): Promise<Map<number, Extension>> {
    const loads = await this.instances.loads(rows.map(({ id }) => id));
    const loadOf = new Map(loads.map((load) => [load.id, load]));
    return extendEach(rows, ({ id, cpu, capacity_adjustment: adjustment }) => {
      const load = loadOf.get(id);
      const free = freePercent(load?.capacity ?? 0, load?.consumed_capacity ?? 0);
      const texts = { cpu: cpu.toFixed(1), capacity_adjustment: adjustment.toFixed(2) };
      const fields = { ...load, ...texts, percent_capacity_remaining: free };
      return { fields: { ...fields, node_type: 'execution' } };
    });
  }
}

/** Returns the free percentage of a capacity, 0 to 100, with two decimal places. */
function freePercent(capacity: number, used: number): number {
  const free = capacity === 0 ? 0 : Math.max(0, (100 * (capacity - used)) / capacity);
  return Math.round(free * 100) / 100;
}
