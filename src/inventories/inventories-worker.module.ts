import { Module } from '@nestjs/common';
import { DeletionsProcessor } from './deletions.processor.js';
import { InventoriesModule } from './inventories.module.js';
import { InventoryDeletionHandler } from './inventory-deletion.handler.js';

/** What of inventories happens in the worker. */
@Module({
  imports: [InventoriesModule],
  providers: [InventoryDeletionHandler, DeletionsProcessor],
})
export class InventoriesWorkerModule {}
