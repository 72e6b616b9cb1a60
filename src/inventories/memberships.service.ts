import { Injectable } from '@nestjs/common';
import { BadRequest } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import { GroupChildrenRepository } from './group-children.repository.js';
import { HostsRepository } from './hosts.repository.js';
import { InventoriesRepository } from './inventories.repository.js';
import { InventoryLock } from './inventory-lock.service.js';
import { membersOf } from './inventory-members.js';

/** Texts of empty host variables. */
const NO_VARIABLES = ['', '{}', '---'];

/** Rules of the memberships of hosts and groups. */
@Injectable()
export class Memberships {
  constructor(
    private readonly lock: InventoryLock,
    private readonly inventories: InventoriesRepository,
    private readonly hosts: HostsRepository,
    private readonly edges: GroupChildrenRepository,
  ) {}

  /**
   * Locks the inventory for a membership change. Rejects constructed inventories, whose memberships
   * result from their inputs.
   */
  lockForChange({ inventory_id: inventory }: Row, noun: 'host' | 'group'): Promise<void> {
    return this.lock.lockForChange(Number(inventory), noun, 'Change');
  }

  /**
   * Rejects a group that would become its own descendant. Requires the lock, so that two concurrent requests
   * cannot create links that together form a cycle.
   */
  async assertNoCycle(group: Row, child: Row): Promise<void> {
    if (await this.edges.isWithin(group.id, child.id)) {
      throw new BadRequest('Cyclical Group association.');
    }
  }

  /** Returns the ids of the smart inventories that contain a host. */
  async smartInventoriesOf({ id, inventory_id: inventory }: Row): Promise<readonly number[]> {
    const siblings = await this.inventories.smartSiblings(Number(inventory));
    return this.hosts.inventoriesWith(
      id,
      new Map(siblings.map((sibling) => [sibling.id, membersOf(sibling, 't')])),
    );
  }

  /** Returns the host of the group's inventory with the name in a body without variables. */
  async hostByName(
    { inventory_id: inventory }: Row,
    { name, variables }: Record<string, unknown>,
  ): Promise<Row | undefined> {
    const text = typeof variables === 'string' ? variables.trim() : JSON.stringify(variables ?? {});
    if (typeof name !== 'string' || !NO_VARIABLES.includes(text)) return undefined;
    return this.hosts.byName(Number(inventory), name);
  }
}
