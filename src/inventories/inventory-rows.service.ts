import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { HostRow, AnsibleInventoryRows as Rows } from './ansible-inventory.js';
import { GroupChildrenRepository } from './group-children.repository.js';
import { GroupHostsRepository } from './group-hosts.repository.js';
import { GroupsRepository } from './groups.repository.js';
import { HostsRepository } from './hosts.repository.js';
import { InventoriesRepository } from './inventories.repository.js';
import { membersOf } from './inventory-members.js';

/** Loads inventories as rows for the inventory document. */
@Injectable()
export class InventoryRows {
  constructor(
    private readonly database: Database,
    private readonly inventories: InventoriesRepository,
    private readonly groups: GroupsRepository,
    private readonly hosts: HostsRepository,
    private readonly groupHosts: GroupHostsRepository,
    private readonly groupChildren: GroupChildrenRepository,
  ) {}

  /**
   * Loads one inventory in five statements, including disabled hosts, as of one moment: with the groups of before
   * an import and the memberships of after it, a job would run on hosts that its pattern excludes.
   *
   * @returns null if there is no such inventory, or if it is being deleted
   */
  load(inventoryId: number): Promise<Rows | null> {
    return this.database.withSnapshot(() => this.read(inventoryId));
  }

  private async read(inventoryId: number): Promise<Rows | null> {
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

  /** Returns one host of an inventory by its name; null if there is no such host or inventory. */
  async host(inventoryId: number, name: string): Promise<HostRow | null> {
    const inventory = await this.inventories.described(inventoryId);
    if (!inventory) return null;
    return (await this.hosts.describedByName(membersOf(inventory, 't'), name)) ?? null;
  }
}
