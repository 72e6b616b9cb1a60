import { Injectable } from '@nestjs/common';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { Invalid } from '../common/errors/errors.js';
import { rowChanges } from '../common/rest/changes.js';
import { resource, type Row, type RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { GroupChildrenRepository } from './group-children.repository.js';
import { onlyWithin } from './group-graph.js';
import { GroupsRepository } from './groups.repository.js';
import { RESERVED_GROUP_NAMES } from './host-name.js';
import { HostsRepository } from './hosts.repository.js';
import { InventoryLock } from './inventory-lock.service.js';
import type { Group } from './group.entity.js';
import { existing } from '../common/invariants.js';

/** Hooks of groups (docs/contract/resources.md#groups). */
@Injectable()
export class GroupHooks implements ResourceHooks<Group> {
  constructor(
    private readonly hosts: HostsRepository,
    private readonly groups: GroupsRepository,
    private readonly inventory: InventoryLock,
    private readonly edges: GroupChildrenRepository,
    private readonly activity: ActivityRecorder,
  ) {}

  /** Locks in the order of imports and bulk requests: first the inventory. */
  async lockParent(id: number): Promise<void> {
    const inventoryId = await this.inventory.inventoryOf(id, 'group');
    if (inventoryId !== undefined) await this.inventory.lock(inventoryId, 'group');
  }

  async prepareCreate(values: ValuesOf<Group>): Promise<void> {
    assertName(values);
    const inventoryId = existing(values.inventory, 'a required reference is given');
    await this.inventory.lockForCreate(inventoryId, 'group');
    await this.inventory.assertNameFree(inventoryId, String(values.name), 'group');
  }

  async prepareUpdate(row: RowOf<Group>, values: ValuesOf<Group>): Promise<void> {
    assertName(values);
    const inventoryId = row.inventory_id;
    await this.inventory.lockForChange(inventoryId, 'group', 'Change');
    if ('name' in values) {
      await this.inventory.assertNameFree(inventoryId, String(values.name), 'group');
    }
  }

  /** Deletes the subgroups and hosts that are in no other group together with a group. */
  async prepareDelete(row: RowOf<Group>): Promise<void> {
    const inventoryId = row.inventory_id;
    await this.inventory.lockForChange(inventoryId, 'group', 'Delete');
    await this.inventory.assertIdle(inventoryId);
    const groups = onlyWithin(row.id, await this.edges.edgesBelow(row.id));
    const hosts = await this.hosts.removeWithin(groups);
    const subgroups = await this.groups.removeAll(groups.filter((id) => id !== row.id));
    this.recordDeletions('host', hosts);
    this.recordDeletions('group', subgroups);
  }

  private recordDeletions(type: string, rows: readonly Row[]): void {
    const definition = resource(type);
    for (const row of rows) {
      const changes = rowChanges(definition, row);
      this.activity.record({ operation: 'delete', object1: refOf(definition, row), changes });
    }
  }
}

function assertName({ name }: ValuesOf<Group>): void {
  if (typeof name === 'string' && RESERVED_GROUP_NAMES.has(name)) {
    throw Invalid.field('name', 'Invalid group name.');
  }
}
