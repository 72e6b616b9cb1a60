import { Outbox } from '../../src/common/queue/outbox.service.js';
import { RedisConnection } from '../../src/common/queue/redis-connection.service.js';
import { GroupsRepository } from '../../src/inventories/groups.repository.js';
import { HostsRepository } from '../../src/inventories/hosts.repository.js';
import { InventoriesRepository } from '../../src/inventories/inventories.repository.js';
import { InventoryDeletionHandler } from '../../src/inventories/inventory-deletion.handler.js';
import { ConstructedSources } from '../../src/inventories/inventory-uses.js';
import type { TestApp } from './boot.js';

/** Removes the rows of a deleted inventory, as a worker does after the response. */
export async function removeInventory({ app, database }: TestApp, id: number): Promise<void> {
  const handler = new InventoryDeletionHandler(
    database,
    app.get(Outbox),
    app.get(InventoriesRepository, { strict: false }),
    app.get(HostsRepository, { strict: false }),
    app.get(GroupsRepository, { strict: false }),
    app.get(ConstructedSources, { strict: false }),
    app.get(RedisConnection, { strict: false }),
  );
  await handler.handle(id);
}
