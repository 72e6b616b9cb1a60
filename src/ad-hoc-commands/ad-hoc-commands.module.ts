import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RunsModule } from '../runs/runs.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { AdHocCommandHooks } from './ad-hoc-command.hooks.js';
import {
  AdHocCommandsController,
  AdHocCommandOutputController,
} from './ad-hoc-commands.controller.js';
import { AdHocCommandsRepository } from './ad-hoc-commands.repository.js';
import { CommandModules } from './command-modules.service.js';
import { CommandPasswords } from './command-passwords.service.js';
import { CommandRelaunchController } from './command-relaunch.controller.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';
import { AdHocCommandExtension } from './ad-hoc-command.extension.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([UnifiedJob]),
    CredentialsModule,
    InventoriesModule,
    RunsModule,
  ],
  controllers: [AdHocCommandsController, AdHocCommandOutputController, CommandRelaunchController],
  providers: [
    AdHocCommandExtension,
    AdHocCommandsRepository,
    AdHocCommandHooks,
    CommandModules,
    CommandPasswords,
  ],
  exports: [AdHocCommandsRepository],
})
export class AdHocCommandsModule {}
