import { Injectable } from '@nestjs/common';
import { BadRequest, Invalid } from '../common/errors/errors.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/dependents.js';
import { GroupsRepository } from './groups.repository.js';
import { HostsRepository } from './hosts.repository.js';
import { InventoriesRepository, type LockedInventory } from './inventories.repository.js';

/** Rules that apply to all hosts and groups of one inventory, enforced under a lock. */
@Injectable()
export class InventoryLock {
  constructor(
    private readonly runs: ActiveRunsQuery,
    private readonly inventories: InventoriesRepository,
    private readonly hosts: HostsRepository,
    private readonly groups: GroupsRepository,
  ) {}

  /**
   * Serializes changes of names and of the group graph of one inventory until the transaction ends.
   * The counters' triggers take the same lock, so the lock causes no additional waiting.
   *
   * @param noun kind of the changed object, for the error text
   * @throws BadRequest if the inventory is being deleted
   */
  async lock(inventoryId: number, noun: 'host' | 'group'): Promise<void> {
    await this.lockAll([inventoryId], noun);
  }

  /** Returns the id of the inventory of a host or a group, which never changes; undefined if it was deleted. */
  async inventoryOf(id: number, noun: 'host' | 'group'): Promise<number | undefined> {
    const members = noun === 'host' ? this.hosts : this.groups;
    const row = await members.findOne({ where: { id }, select: { inventory_id: true } });
    return row?.inventory_id;
  }

  /**
   * Locks an inventory before the creation of a host or a group.
   *
   * @throws Invalid for smart and constructed inventories; BadRequest if the inventory is being deleted
   */
  async lockForCreate(inventoryId: number, noun: 'host' | 'group'): Promise<void> {
    const inventories = await this.inventories.lock([inventoryId]);
    assertNotDeleting(inventories, noun);
    if (inventories.every(({ kind }) => kind === '')) return;
    const Noun = noun === 'host' ? 'Host' : 'Group';
    const text = `Cannot create ${Noun} for Smart or Constructed Inventories`;
    throw Invalid.field('inventory', text);
  }

  /**
   * Locks an inventory whose hosts or groups are about to change.
   *
   * @param verb verb for the error text
   * @throws BadRequest for a constructed inventory, or if the inventory is being deleted
   */
  async lockForChange(
    inventoryId: number,
    noun: 'host' | 'group',
    verb: 'Change' | 'Delete',
  ): Promise<void> {
    const inventories = await this.inventories.lock([inventoryId]);
    assertNotDeleting(inventories, noun);
    if (!inventories.some(({ kind }) => kind === 'constructed')) return;
    throw new BadRequest(`${verb} constructed inventory ${noun}s from input inventory.`);
  }

  /**
   * Locks several inventories in the order of ids, so that transactions cannot deadlock.
   *
   * @returns number of hosts of each inventory under the lock; a deleted inventory is missing
   * @throws BadRequest if an inventory is being deleted
   */
  async lockAll(
    inventoryIds: readonly number[],
    noun: 'host' | 'group',
  ): Promise<Map<number, number>> {
    const rows = await this.inventories.lock(inventoryIds);
    assertNotDeleting(rows, noun);
    return new Map(rows.map((row) => [row.id, row.total_hosts]));
  }

  /**
   * Checks that no group has the name of a host, or no host the name of a group, because Ansible identifies
   * both by name only. An index keeps the names of each kind unique. Requires the lock.
   *
   * @throws Invalid if the name is taken
   */
  async assertNameFree(inventoryId: number, name: string, noun: 'host' | 'group'): Promise<void> {
    const [others, other] =
      noun === 'host' ? ([this.groups, 'Group'] as const) : ([this.hosts, 'Host'] as const);
    const taken = await others.existsBy({ inventory_id: inventoryId, name });
    if (taken) throw Invalid.all(`A ${other} with that name already exists.`);
  }

  /** @throws Conflict if an active job uses the inventory */
  async assertIdle(...inventoryIds: readonly number[]): Promise<void> {
    await assertNoActiveRuns(this.runs, ['inventory_id'], inventoryIds);
  }
}

/** @throws BadRequest if an inventory is being deleted */
export function assertNotDeleting(
  inventories: readonly LockedInventory[],
  noun: 'host' | 'group',
): void {
  if (inventories.some((row) => row.pending_deletion)) {
    throw new BadRequest(`The inventory for this ${noun} is already being deleted.`);
  }
}
