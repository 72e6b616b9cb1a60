import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { QueueWorkers } from './common/queue/queue-workers.js';
import { FEATURES } from './features.js';
import { InventoriesWorkerModule } from './inventories/inventories-worker.module.js';
import { JobsWorkerModule } from './execution/execution.module.js';
import { NotificationsWorkerModule } from './notifications/notifications-worker.module.js';
import { SchedulesWorkerModule } from './schedules/schedules-worker.module.js';
import { WebhooksWorkerModule } from './webhooks/webhooks-worker.module.js';
import { WorkflowsWorkerModule } from './execution/workflow-engine/workflow-engine.module.js';

/** The worker process: the same features, and those that take from the queues. */
@Module({
  imports: [
    ...FEATURES,
    DiscoveryModule,
    InventoriesWorkerModule,
    JobsWorkerModule,
    NotificationsWorkerModule,
    SchedulesWorkerModule,
    WebhooksWorkerModule,
    WorkflowsWorkerModule,
  ],
  providers: [QueueWorkers],
})
export class WorkerModule {}
