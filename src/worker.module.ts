import { Module } from '@nestjs/common';
import { OutboxSweeper } from './common/queue/outbox-sweeper.service.js';
import { QueueProcessors } from './common/queue/queue-processors.service.js';
import { FEATURES } from './features.js';
import { InventoriesWorkerModule } from './inventories/inventories-worker.module.js';
import { ExecutionModule } from './execution/execution.module.js';
import { NotificationsWorkerModule } from './notifications/notifications-worker.module.js';
import { SchedulesWorkerModule } from './schedules/schedules-worker.module.js';
import { WebhooksWorkerModule } from './webhooks/webhooks-worker.module.js';
import { WorkflowEngineModule } from './execution/workflow-engine/workflow-engine.module.js';

/** Worker process: the same features, and the processors of the queues. */
@Module({
  imports: [
    ...FEATURES,
    InventoriesWorkerModule,
    ExecutionModule,
    NotificationsWorkerModule,
    SchedulesWorkerModule,
    WebhooksWorkerModule,
    WorkflowEngineModule,
  ],
  providers: [QueueProcessors, OutboxSweeper],
})
export class WorkerModule {}
