import { Module } from '@nestjs/common';
import { GroupGraph } from './group-graph.js';
import { GroupHooks } from './group.hooks.js';
import { GroupsController } from './groups.controller.js';
import { HostHooks } from './host.hooks.js';
import { HostLimit } from './host-limit.js';
import { HostsController } from './hosts.controller.js';
import { InventoriesController } from './inventories.controller.js';
import { InventoryHooks } from './inventory.hooks.js';
import { InventoryLock } from './inventory-lock.js';
import { InventoryRows } from './inventory-rows.js';
import { InventoryScript } from './inventory-script.js';
import { InventoryTree } from './inventory-tree.js';

@Module({
  controllers: [InventoriesController, HostsController, GroupsController],
  providers: [
    InventoryHooks,
    HostHooks,
    GroupHooks,
    GroupGraph,
    HostLimit,
    InventoryLock,
    InventoryRows,
    InventoryScript,
    InventoryTree,
  ],
  exports: [HostLimit, InventoryLock, InventoryRows],
})
export class InventoriesModule {}
