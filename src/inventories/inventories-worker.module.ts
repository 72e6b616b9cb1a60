import { Module } from '@nestjs/common';
import { DeletionsProcessor } from './deletions.processor.js';
import { InventoriesModule } from './inventories.module.js';
import { InventoryDeletionHandler } from './inventory-deletion.handler.js';

/** Background work of inventories; only loaded in the worker process. */
@Module({
  imports: [InventoriesModule],
  providers: [InventoryDeletionHandler, DeletionsProcessor],
})
export class InventoriesWorkerModule {}
