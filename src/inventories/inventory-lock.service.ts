import { Injectable } from '@nestjs/common';
import { BadRequest, Invalid } from '../common/errors/errors.js';
import { ActiveRuns, assertNoActiveRuns } from '../common/resource/held-by.js';
import { GroupsRepository } from './groups.repository.js';
import { HostsRepository } from './hosts.repository.js';
import { InventoriesRepository, type HeldInventory } from './inventories.repository.js';

/** What must hold across the hosts and groups of one inventory, whoever changes them meanwhile. */
@Injectable()
export class InventoryLock {
  constructor(
    private readonly runs: ActiveRuns,
    private readonly inventories: InventoriesRepository,
    private readonly hosts: HostsRepository,
    private readonly groups: GroupsRepository,
  ) {}

  /**
   * Makes changes of names and of the group graph of one inventory wait for each other until the
   * transaction ends. The counters' triggers take the same lock, so it costs no further waiting.
   *
   * @param noun what the caller is about to touch, for the text of the error
   * @throws BadRequest when the inventory is being deleted
   */
  async hold(inventoryId: number, noun: 'host' | 'group'): Promise<void> {
    await this.holdAll([inventoryId], noun);
  }

  /**
   * The same for an inventory that is to get a host or a group.
   *
   * @throws Invalid where what is in the inventory follows from other hosts
   */
  async holdForNew(inventoryId: number, noun: 'host' | 'group'): Promise<void> {
    const [held] = await this.inventories.hold([inventoryId]);
    assertNotGoing(held ? [held] : [], noun);
    if (!held || held.kind === '') return;
    const Noun = noun === 'host' ? 'Host' : 'Group';
    const text = `Cannot create ${Noun} for Smart or Constructed Inventories`;
    throw Invalid.field('inventory', text);
  }

  /**
   * The same for what is there and is to become another or to go.
   *
   * @param doing what is to be done with it, for the text of the error
   * @throws BadRequest where it follows from other inventories
   */
  async holdForChange(
    inventoryId: number,
    noun: 'host' | 'group',
    doing: 'Change' | 'Delete',
  ): Promise<void> {
    const held = await this.inventories.hold([inventoryId]);
    assertNotGoing(held, noun);
    if (!held.some(({ kind }) => kind === 'constructed')) return;
    throw new BadRequest(`${doing} constructed inventory ${noun}s from input inventory.`);
  }

  /**
   * The same for several inventories, always in one order, so that nobody waits in a circle.
   *
   * @returns number of hosts of each, as it is under the lock; an inventory that is gone is missing
   */
  async holdAll(
    inventoryIds: readonly number[],
    noun: 'host' | 'group',
  ): Promise<Map<number, number>> {
    const rows = await this.inventories.hold(inventoryIds);
    assertNotGoing(rows, noun);
    return new Map(rows.map((row) => [row.id, row.total_hosts]));
  }

  /**
   * Ansible knows hosts and groups by name alone: within an inventory no group may be called like
   * a host. Needs the lock.
   */
  async assertNameFree(inventoryId: number, name: string, noun: 'host' | 'group'): Promise<void> {
    const [others, other] =
      noun === 'host' ? ([this.groups, 'Group'] as const) : ([this.hosts, 'Host'] as const);
    const taken = await others.existsBy({ inventory_id: inventoryId, name });
    if (taken) throw Invalid.all(`A ${other} with that name already exists.`);
  }

  /** @throws Conflict while a job that has not ended uses the inventory */
  async assertIdle(...inventoryIds: readonly number[]): Promise<void> {
    await assertNoActiveRuns(this.runs, ['inventory_id'], inventoryIds);
  }
}

function assertNotGoing(held: readonly HeldInventory[], noun: 'host' | 'group'): void {
  if (held.some((row) => row.pending_deletion)) {
    throw new BadRequest(`The inventory for this ${noun} is already being deleted.`);
  }
}
