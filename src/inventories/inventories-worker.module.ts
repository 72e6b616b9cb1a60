import { Module } from '@nestjs/common';
import { InventoryDeletionHandler } from './inventory-deletion.handler.js';

/** What of inventories happens in the worker. */
@Module({ providers: [InventoryDeletionHandler] })
export class InventoriesWorkerModule {}
