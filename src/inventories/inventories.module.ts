import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { HostWritesRepository } from './host-writes.repository.js';
import { GroupChildrenRepository } from './group-children.repository.js';
import { GroupHooks } from './group.hooks.js';
import { GroupHostsRepository } from './group-hosts.repository.js';
import { GroupsController, GroupVariableDataController } from './groups.controller.js';
import { GroupsRepository } from './groups.repository.js';
import { HostFactsRepository } from './host-facts.repository.js';
import { HostHooks } from './host.hooks.js';
import { HostLimit } from './host-limit.service.js';
import { HostsController, HostVariableDataController } from './hosts.controller.js';
import { HostsRepository } from './hosts.repository.js';
import {
  InventoriesController,
  InventoryVariableDataController,
} from './inventories.controller.js';
import { InventoriesRepository } from './inventories.repository.js';
import { InventoryCopyController } from './inventory-copy.controller.js';
import { InventoryHooks } from './inventory.hooks.js';
import { InventoryInputsRepository } from './inventory-inputs.repository.js';
import { InventoryLock } from './inventory-lock.service.js';
import { InventoryRows } from './inventory-rows.service.js';
import { InventoryScript } from './inventory-script.service.js';
import { InventoryTree } from './inventory-tree.service.js';
import { Memberships } from './memberships.service.js';
import { MemberCounts } from './member-counts.service.js';
import { ImportedMembersRepository } from './import/imported-members.repository.js';
import { ImportedObjectsRepository } from './import/imported-objects.repository.js';
import { InventoryImport } from './import/inventory-import.service.js';
import { Group, GroupChild, GroupHost } from './group.entity.js';
import { Host, HostFacts, HostProjectFacts } from './host.entity.js';
import { Inventory, InventoryInput, InventoryLabel } from './inventory.entity.js';
import {
  InventorySourceGroup,
  InventorySourceHost,
  InventorySourceVariables,
} from './import/source-claim.entity.js';
import { InventoryExtension, HostExtension } from './inventory.extensions.js';

const repositories = [
  InventoriesRepository,
  InventoryInputsRepository,
  HostsRepository,
  HostWritesRepository,
  HostFactsRepository,
  GroupsRepository,
  GroupHostsRepository,
  GroupChildrenRepository,
  ImportedObjectsRepository,
  ImportedMembersRepository,
];

@Module({
  imports: [
    TypeOrmModule.forFeature([
      Group,
      GroupChild,
      GroupHost,
      Host,
      HostFacts,
      HostProjectFacts,
      Inventory,
      InventoryInput,
      InventoryLabel,
      InventorySourceGroup,
      InventorySourceHost,
      InventorySourceVariables,
    ]),
  ],
  controllers: [
    InventoriesController,
    InventoryCopyController,
    InventoryVariableDataController,
    HostsController,
    HostVariableDataController,
    GroupsController,
    GroupVariableDataController,
  ],
  providers: [
    InventoryExtension,
    HostExtension,
    ...repositories,
    InventoryHooks,
    HostHooks,
    GroupHooks,
    HostLimit,
    InventoryLock,
    InventoryRows,
    InventoryScript,
    InventoryTree,
    MemberCounts,
    Memberships,
    InventoryImport,
  ],
  exports: [
    ...repositories,
    HostLimit,
    InventoryLock,
    InventoryRows,
    InventoryImport,
    MemberCounts,
  ],
})
export class InventoriesModule {}
