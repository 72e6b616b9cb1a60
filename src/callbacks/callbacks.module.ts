import { Module } from '@nestjs/common';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { InventorySourcesModule } from '../inventory-sources/inventory-sources.module.js';
import { LaunchingModule } from '../launching/launching.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { CallbackController } from './callback.controller.js';
import { Callbacks } from './callbacks.service.js';
import { CallingHosts } from './calling-hosts.service.js';

@Module({
  imports: [InventoriesModule, InventorySourcesModule, LaunchingModule, RunsModule],
  controllers: [CallbackController],
  providers: [Callbacks, CallingHosts],
})
export class CallbacksModule {}
