import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { LiveUpdatesGateway } from './live-updates.gateway.js';

@Module({ imports: [AuthModule, InventoriesModule, RunsModule], providers: [LiveUpdatesGateway] })
export class LiveUpdatesModule {}
