import { Injectable } from '@nestjs/common';
import { type Actor } from '../common/access.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { sql, type Sql } from '../database/sql.js';
import {
  GivenHostsRepository,
  type HostTarget,
  type HostCheck,
  type OnConflict,
  writeGiven,
  foreseeGiven,
} from '../inventories/given-hosts.repository.js';
import { HostLimit, type AddedHosts } from '../inventories/host-limit.service.js';
import { InventoryLock } from '../inventories/inventory-lock.service.js';

/** Numbers of written hosts, and names of groups made for them. */
export interface HostTotals {
  created: number;
  updated: number;
  unchanged: number;
  groups: string[];
}

/**
 * Writes many hosts of one inventory, set-based. The given hosts come as a query with the columns of
 * `HostColumns`, so that a request held in memory and one staged in a table are written alike.
 */
@Injectable()
export class HostWriter {
  constructor(
    private readonly given: GivenHostsRepository,
    private readonly inventory: InventoryLock,
    private readonly limit: HostLimit,
    private readonly activity: ActivityRecorder,
  ) {}

  /** @param check further column, by `checkGiven` */
  find(
    inventoryId: number,
    actor: Actor,
    check: Sql = sql`NULL`,
  ): Promise<(HostTarget & { check: HostCheck | null }) | undefined> {
    return this.given.findTarget(inventoryId, actor, check);
  }

  /**
   * Holds the inventory against other writers of hosts and groups until the transaction ends.
   *
   * @param added hosts it will have more, and the query for the `name` of all that are given
   * @returns number of hosts it has
   * @throws Forbidden beyond the limit of the organization
   */
  async hold(target: HostTarget, added: Pick<AddedHosts, 'most' | 'names'>): Promise<number> {
    if (added.most > 0) await this.limit.assertRoom(target.id, added);
    return (await this.inventory.holdAll([target.id], 'host')).get(target.id) ?? 0;
  }

  /**
   * The `WITH` of a statement that writes given hosts; its `written` holds what they became, without
   * those whose name was taken meanwhile.
   */
  write(target: HostTarget, given: Sql, onConflict: OnConflict): Sql {
    return writeGiven(target.id, given, onConflict);
  }

  /** What `write` would write, of the same shape; hosts that would be new have no id. */
  foresee(target: HostTarget, given: Sql): Sql {
    return foreseeGiven(target.id, given);
  }

  /**
   * Puts written hosts into the groups they name; groups that do not exist are made.
   *
   * @returns names of the groups made
   */
  join(target: HostTarget, given: Sql): Promise<string[]> {
    return this.given.join(target.id, given);
  }

  /** One entry for the whole request. */
  record(target: HostTarget, before: number, { created, updated, groups }: HostTotals): void {
    this.activity.record({
      operation: 'update',
      object1: {
        type: 'inventory',
        id: target.id,
        name: target.name,
        organizationId: target.organization_id,
      },
      changes: {
        total_hosts: [before, before + created],
        ...(updated > 0 ? { hosts_updated: updated } : {}),
        ...(groups.length > 0 ? { groups_created: groups } : {}),
      },
    });
  }
}
