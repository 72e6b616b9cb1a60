import { Injectable } from '@nestjs/common';
import type { HostRow, InventoryRows as Rows } from './ansible-inventory.js';
import { GroupChildrenRepository } from './group-children.repository.js';
import { GroupHostsRepository } from './group-hosts.repository.js';
import { GroupsRepository } from './groups.repository.js';
import { HostsRepository } from './hosts.repository.js';
import { InventoriesRepository } from './inventories.repository.js';
import { membersOf } from './inventory-members.js';

/** Loads inventories in the form the inventory document is built from. */
@Injectable()
export class InventoryRows {
  constructor(
    private readonly inventories: InventoriesRepository,
    private readonly groups: GroupsRepository,
    private readonly hosts: HostsRepository,
    private readonly groupHosts: GroupHostsRepository,
    private readonly groupChildren: GroupChildrenRepository,
  ) {}

  /**
   * All of one inventory in five statements, disabled hosts included and marked.
   *
   * @returns null when there is no such inventory, or when it is being deleted
   */
  async load(inventoryId: number): Promise<Rows | null> {
    const inventory = await this.inventories.described(inventoryId);
    if (!inventory) return null;
    const { variables } = inventory;
    const groups = await this.groups.described(inventoryId);
    const hosts = await this.hosts.described(membersOf(inventory, 't'));
    const groupIds = groups.map(({ id }) => id);
    const groupHosts = await this.groupHosts.of(groupIds);
    const groupChildren = await this.groupChildren.edgesOf(groupIds);
    return { variables, groups, hosts, groupHosts, groupChildren };
  }

  /** One host of an inventory by its name, as the document knows hosts. */
  async host(inventoryId: number, name: string): Promise<HostRow | null> {
    const inventory = await this.inventories.described(inventoryId);
    if (!inventory) return null;
    return (await this.hosts.describedByName(membersOf(inventory, 't'), name)) ?? null;
  }
}
