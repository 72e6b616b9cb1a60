import { Module } from '@nestjs/common';
import { LaunchingModule } from '../launching/launching.module.js';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { BulkController } from './bulk.controller.js';
import { BulkHostCreate } from './bulk-host-create.service.js';
import { BulkHostStream } from './bulk-host-stream.service.js';
import { BulkHostDelete } from './bulk-host-delete.service.js';
import { BulkHostsController } from './bulk-hosts.controller.js';
import { BulkJobsController } from './bulk-jobs.controller.js';
import { BulkLaunchCheck } from './bulk-launch-check.service.js';
import { BulkLaunchService } from './bulk-launch.service.js';
import { WorkflowRelaunchController } from './workflow-relaunch.controller.js';
import { BulkRelaunch } from './bulk-relaunch.service.js';
import { HostAdditions } from './host-additions.service.js';

@Module({
  imports: [InventoriesModule, LaunchingModule, WorkflowsModule],
  controllers: [
    BulkController,
    BulkHostsController,
    BulkJobsController,
    WorkflowRelaunchController,
  ],
  providers: [
    BulkHostCreate,
    BulkHostStream,
    HostAdditions,
    BulkHostDelete,
    BulkLaunchCheck,
    BulkLaunchService,
    BulkRelaunch,
  ],
})
export class BulkModule {}
