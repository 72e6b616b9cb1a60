import { Global, Module } from '@nestjs/common';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { InventorySourceHooks } from './inventory-source.hooks.js';
import { InventorySourcesController } from './inventory-sources.controller.js';
import { InventorySourcesRepository } from './inventory-sources.repository.js';
import { InventoryUpdatesController } from './inventory-updates.controller.js';
import { InventoryUpdatesRepository } from './inventory-updates.repository.js';
import { InventoryUpdateStarts } from './inventory-update-starts.service.js';
import { InventorySourcesPanel } from './pages/inventory-sources.panel.js';
import { SourcePanel } from './pages/source.panel.js';
import { UpdateInventoryController } from './update-inventory.controller.js';

const panels = [SourcePanel, InventorySourcesPanel];
const repositories = [InventorySourcesRepository, InventoryUpdatesRepository];

@Global()
@Module({
  imports: [CredentialsModule],
  controllers: [InventorySourcesController, InventoryUpdatesController, UpdateInventoryController],
  providers: [...repositories, InventorySourceHooks, InventoryUpdateStarts, ...panels],
  exports: [...repositories],
})
export class InventorySourcesModule {}
