import { Injectable } from '@nestjs/common';
import { Unavailable } from '../common/errors/errors.js';
import { withListTimeout } from '../common/list/time-limit.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { HostsRepository, type MemberCount } from './hosts.repository.js';
import { membersOf, type HostedInventory } from './inventory-members.js';

/**
 * Counts the members of smart inventories. The counts are not stored, because members change with
 * hosts of any inventory.
 */
@Injectable()
export class MemberCounts {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly hosts: HostsRepository,
  ) {}

  /**
   * Returns the counts by inventory, in one statement.
   *
   * @throws Unavailable if the statement takes longer than LIST_TIMEOUT_MS
   */
  async of(inventories: readonly HostedInventory[]): Promise<Map<number, MemberCount>> {
    if (inventories.length === 0) return new Map();
    const members = new Map(
      inventories.map((inventory) => [inventory.id, membersOf(inventory, 't')]),
    );
    const counted = await withListTimeout(this.database, this.settings, () =>
      this.hosts.countMembers(members),
    );
    return new Map(counted.map((row) => [row.id, row]));
  }

  /** Returns the counts by inventory; no counts if the statement takes too long. */
  async known(inventories: readonly HostedInventory[]): Promise<Map<number, MemberCount>> {
    return this.of(inventories).catch((error: unknown) => {
      if (error instanceof Unavailable) return new Map<number, MemberCount>();
      throw error;
    });
  }
}
