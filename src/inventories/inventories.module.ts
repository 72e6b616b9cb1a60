import { Module } from '@nestjs/common';
import { GroupGraph } from './group-graph.service.js';
import { GroupHooks } from './group.hooks.js';
import { GroupsController } from './groups.controller.js';
import { HostHooks } from './host.hooks.js';
import { HostLimit } from './host-limit.service.js';
import { HostsController } from './hosts.controller.js';
import { InventoriesController } from './inventories.controller.js';
import { InventoryHooks } from './inventory.hooks.js';
import { InventoryLock } from './inventory-lock.service.js';
import { InventoryRows } from './inventory-rows.service.js';
import { InventoryScript } from './inventory-script.service.js';
import { InventoryTree } from './inventory-tree.service.js';

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
