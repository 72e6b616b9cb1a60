import { Injectable } from '@nestjs/common';
import { ActivityRecorder } from '../common/activity/activity.js';
import { Conflict } from '../common/errors/errors.js';
import { HostWritesRepository, type HostTarget } from '../inventories/host-writes.repository.js';
import { HostLimit, type AddedHosts } from '../inventories/host-limit.service.js';
import type { Sql } from '../database/sql.js';
import { settleAll } from '../database/settle-all.js';
import { InventoryLock } from '../inventories/inventory-lock.service.js';

/** Numbers of hosts by result, and names of the created groups. */
export interface HostTotals {
  created: number;
  updated: number;
  unchanged: number;
  groups: string[];
}

/** Locks, limit and activity entry for adding many hosts to an inventory. */
@Injectable()
export class HostAdditions {
  constructor(
    private readonly hosts: HostWritesRepository,
    private readonly inventoryLock: InventoryLock,
    private readonly limit: HostLimit,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * Locks the inventory against other writers of hosts and groups until the transaction ends.
   *
   * @param added maximum number of new hosts, and the query for the `name` of all requested hosts
   * @returns current number of hosts
   * @throws Forbidden if the host limit of the organization is exceeded
   */
  async lock(target: HostTarget, added: Pick<AddedHosts, 'count' | 'names'>): Promise<number> {
    // Statements run in this order, so the organization is locked first.
    const [, hostCounts] = await settleAll([
      added.count > 0 ? this.limit.assertWithinLimit(target.id, added) : undefined,
      this.inventoryLock.lockAll([target.id], 'host'),
    ]);
    return hostCounts.get(target.id) ?? 0;
  }

  /**
   * Adds written hosts to the groups that they name; creates missing groups.
   *
   * @returns names of the created groups
   * @throws Conflict if a concurrent request gave the name of a new group to a host
   */
  async join(inventoryId: number, hosts: Sql): Promise<string[]> {
    const groups = await this.hosts.join(inventoryId, hosts);
    const taken = groups.filter((group) => group.is_host).map(({ name }) => name);
    if (taken.length > 0) throw namesTaken(taken);
    return groups.map(({ name }) => name);
  }

  /** Records one entry for the whole request. */
  record(target: HostTarget, countBefore: number, { created, updated, groups }: HostTotals): void {
    this.activity.record({
      operation: 'update',
      object1: {
        type: 'inventory',
        id: target.id,
        name: target.name,
        organizationId: target.organization_id,
      },
      changes: {
        total_hosts: [countBefore, countBefore + created],
        ...(updated > 0 ? { hosts_updated: updated } : {}),
        ...(groups.length > 0 ? { groups_created: groups } : {}),
      },
    });
  }
}

export const namesTaken = (names: readonly string[]): Conflict =>
  new Conflict(`Another request has just taken these names: ${names.join(', ')}`);
