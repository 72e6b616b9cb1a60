import { Injectable } from '@nestjs/common';
import { Outbox } from '../common/queue/outbox.service.js';
import { RedisConnection } from '../common/queue/redis-connection.service.js';
import type { QueueHandler } from '../common/queue/queue-processor.js';
import { Database } from '../database/database.js';
import { GroupsRepository } from './groups.repository.js';
import { HostsRepository } from './hosts.repository.js';
import { InventoriesRepository, INVENTORY_CHANNEL } from './inventories.repository.js';
import { ConstructedSources } from './inventory-uses.js';

/** Number of rows per transaction: small enough to keep locks short, large enough to be fast. */
const BATCH = 1000;
/**
 * Time without progress after which another worker continues, in seconds; every batch restarts it.
 */
const QUIET_SECONDS = 60;

/**
 * Deletes the rows of deleted inventories. Deletions are final, so any worker can continue where
 * another worker stopped, and two workers can work on the same inventory.
 */
@Injectable()
export class InventoryDeletionHandler implements QueueHandler {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly inventories: InventoriesRepository,
    private readonly hosts: HostsRepository,
    private readonly groups: GroupsRepository,
    private readonly sources: ConstructedSources,
    private readonly redis: RedisConnection,
  ) {}

  async handle(inventoryId: number): Promise<void> {
    const pending = { id: inventoryId, pending_deletion: true };
    if (await this.inventories.existsBy(pending)) {
      await this.empty(inventoryId, () => this.sources.removeUpdates(inventoryId, BATCH));
      await this.empty(inventoryId, () => this.hosts.removeSome(inventoryId, BATCH));
      await this.empty(inventoryId, () => this.groups.removeSome(inventoryId, BATCH));
    }
    await this.database.transaction(async () => {
      await this.database.prepareDeletion();
      await this.inventories.delete(pending);
      await this.outbox.acknowledge('deletions', inventoryId);
      this.database.afterCommit(() => this.redis.announce(INVENTORY_CHANNEL, [inventoryId]));
    });
  }

  /** @param remove deletes some rows, and returns their number */
  private async empty(inventoryId: number, remove: () => Promise<number>): Promise<void> {
    let removed: number;
    do {
      removed = await this.database.transaction(async () => {
        await this.outbox.postpone('deletions', inventoryId, QUIET_SECONDS);
        await this.database.prepareDeletion();
        // First, like a deletion of the organization. Members that are locked are skipped.
        await this.inventories.lock([inventoryId]);
        return remove();
      });
    } while (removed > 0);
  }
}
