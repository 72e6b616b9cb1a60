import { Module } from '@nestjs/common';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { BulkController } from './bulk.controller.js';
import { BulkHostCreate } from './bulk-host-create.service.js';
import { BulkHostDelete } from './bulk-host-delete.service.js';
import { BulkHostsController } from './bulk-hosts.controller.js';

@Module({
  imports: [InventoriesModule],
  controllers: [BulkController, BulkHostsController],
  providers: [BulkHostCreate, BulkHostDelete],
})
export class BulkModule {}
