import { Injectable } from '@nestjs/common';
import { BadRequest, Conflict, Invalid } from '../common/http/errors.js';
import { Database } from '../database/database.js';
import { ident, sql } from '../database/sql.js';

export const IN_USE = 'Resource is being used by running jobs.';

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
    const row = await this.database.row<{ pending_deletion: boolean }>(sql`
      SELECT pending_deletion FROM inventories WHERE id = ${inventoryId} FOR NO KEY UPDATE`);
    if (row?.pending_deletion) {
      throw new BadRequest(`The inventory for this ${noun} is already being deleted.`);
    }
  }

  /**
   * Ansible knows hosts and groups by name alone: within an inventory no group may be called like
   * a host. Needs the lock.
   */
  async assertNameFree(inventoryId: number, name: string, noun: 'host' | 'group'): Promise<void> {
    const [table, other] = noun === 'host' ? ['groups', 'Group'] : ['hosts', 'Host'];
    const taken = await this.database.row(sql`
      SELECT 1 FROM ${ident(table!)} WHERE inventory_id = ${inventoryId} AND name = ${name}`);
    if (taken) throw Invalid.all(`A ${other} with that name already exists.`);
  }

  /** @throws Conflict while a job that has not ended uses the inventory */
  async assertIdle(inventoryId: number): Promise<void> {
    const active = await this.database.row(sql`
      SELECT 1 FROM unified_jobs
      WHERE inventory_id = ${inventoryId} AND status IN ('new', 'pending', 'waiting', 'running')
      LIMIT 1`);
    if (active) throw new Conflict(IN_USE);
  }
}
