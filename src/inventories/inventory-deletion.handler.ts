import { Injectable } from '@nestjs/common';
import { Outbox } from '../common/queue/outbox.js';
import type { QueueHandler } from '../common/queue/queue-processor.js';
import { Database } from '../database/database.js';
import { ident, sql } from '../database/sql.js';

/** Rows of one transaction; small enough to leave room for others, large enough to be quick. */
const BATCH = 1000;
/** How long a worker may be silent before another goes on. */
const QUIET_SECONDS = 60;

/**
 * Removes the rows of inventories that were deleted. What is gone stays gone, so any worker may go
 * on where another stopped, and two at once only share the work.
 */
@Injectable()
export class InventoryDeletionHandler implements QueueHandler {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  async handle(inventoryId: number): Promise<void> {
    if (await this.isPending(inventoryId)) {
      await this.empty('hosts', inventoryId);
      await this.empty('groups', inventoryId);
    }
    await this.database.transaction(async () => {
      await this.database.checkReferencesAtCommit();
      await this.database.execute(sql`
        DELETE FROM inventories WHERE id = ${inventoryId} AND pending_deletion`);
      await this.outbox.acknowledge('deletions', inventoryId);
    });
  }

  private async isPending(inventoryId: number): Promise<boolean> {
    const row = await this.database.row(sql`
      SELECT 1 FROM inventories WHERE id = ${inventoryId} AND pending_deletion`);
    return row !== undefined;
  }

  private async empty(table: 'hosts' | 'groups', inventoryId: number): Promise<void> {
    let removed: number;
    do {
      removed = await this.database.transaction(async () => {
        await this.outbox.postpone('deletions', inventoryId, QUIET_SECONDS);
        await this.database.checkReferencesAtCommit();
        return this.database.execute(sql`
          DELETE FROM ${ident(table)} WHERE id IN (
            SELECT id FROM ${ident(table)} WHERE inventory_id = ${inventoryId}
            LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`);
      });
    } while (removed > 0);
  }
}
