import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { SourceObjects } from './source-objects.service.js';
import { ConstructedInventoriesController } from './constructed-inventories.controller.js';
import { HiddenSources } from './hidden-sources.service.js';
import { InventorySourceHooks } from './inventory-source.hooks.js';
import { InventorySourcesController } from './inventory-sources.controller.js';
import { InventorySourcesRepository } from './inventory-sources.repository.js';
import {
  InventoryUpdatesController,
  InventoryUpdateOutputController,
} from './inventory-updates.controller.js';
import { InventoryUpdatesRepository } from './inventory-updates.repository.js';
import { InventoryUpdateLauncher } from './inventory-update-launcher.service.js';
import { SourceCredentials } from './source-credentials.service.js';
import { UpdateInventoryController } from './update-inventory.controller.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';
import { InventoryUpdateExtension } from './inventory-update.extension.js';
import { InventorySourceExtension } from './inventory-source.extension.js';
import { ConstructedInventoryExtension } from './constructed-inventory.extension.js';

const repositories = [InventorySourcesRepository, InventoryUpdatesRepository];

@Module({
  imports: [
    TypeOrmModule.forFeature([UnifiedJob, UnifiedTemplate]),
    CredentialsModule,
    InventoriesModule,
    RunsModule,
  ],
  controllers: [
    InventorySourcesController,
    InventoryUpdatesController,
    InventoryUpdateOutputController,
    UpdateInventoryController,
    ConstructedInventoriesController,
  ],
  providers: [
    ConstructedInventoryExtension,
    InventorySourceExtension,
    InventoryUpdateExtension,
    ...repositories,
    InventorySourceHooks,
    InventoryUpdateLauncher,
    SourceObjects,
    HiddenSources,
    SourceCredentials,
  ],
  exports: [...repositories, InventoryUpdateLauncher, HiddenSources],
})
export class InventorySourcesModule {}
