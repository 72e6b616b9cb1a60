import { Injectable } from '@nestjs/common';
import { BadRequest, Invalid } from '../common/errors/errors.js';
import { assertNoActiveRuns } from '../common/resource/held-by.js';
import { Database } from '../database/database.js';
import { ident, sql } from '../database/sql.js';

/** What must hold across the hosts and groups of one inventory, whoever changes them meanwhile. */
@Injectable()
export class InventoryLock {
  constructor(private readonly database: Database) {}

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
   * The same for several inventories, always in one order, so that nobody waits in a circle.
   *
   * @returns number of hosts of each, as it is under the lock; an inventory that is gone is missing
   */
  async holdAll(
    inventoryIds: readonly number[],
    noun: 'host' | 'group',
  ): Promise<Map<number, number>> {
    const rows = await this.database.rows<{
      id: number;
      total_hosts: number;
      pending_deletion: boolean;
    }>(sql`
      SELECT id, total_hosts, pending_deletion FROM inventories
      WHERE id = ANY(${inventoryIds}::int[]) ORDER BY id FOR NO KEY UPDATE`);
    if (rows.some((row) => row.pending_deletion)) {
      throw new BadRequest(`The inventory for this ${noun} is already being deleted.`);
    }
    return new Map(rows.map((row) => [row.id, row.total_hosts]));
  }

  /**
   * Ansible knows hosts and groups by name alone: within an inventory no group may be called like
   * a host. Needs the lock.
   */
  async assertNameFree(inventoryId: number, name: string, noun: 'host' | 'group'): Promise<void> {
    const [table, other] =
      noun === 'host' ? (['groups', 'Group'] as const) : (['hosts', 'Host'] as const);
    const taken = await this.database.row(sql`
      SELECT 1 FROM ${ident(table)} WHERE inventory_id = ${inventoryId} AND name = ${name}`);
    if (taken) throw Invalid.all(`A ${other} with that name already exists.`);
  }

  /** @throws Conflict while a job that has not ended uses the inventory */
  async assertIdle(...inventoryIds: readonly number[]): Promise<void> {
    await assertNoActiveRuns(this.database, sql`inventory_id = ANY(${inventoryIds}::int[])`);
  }
}
