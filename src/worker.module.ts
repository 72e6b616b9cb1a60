import { Module } from '@nestjs/common';
import { OutboxSweeper } from './common/queue/outbox-sweeper.service.js';
import { QueueProcessors } from './common/queue/queue-processors.service.js';
import { FeaturesModule } from './features.module.js';
import { IdentityWorkerModule } from './identity/identity-worker.module.js';
import { InventoriesWorkerModule } from './inventories/inventories-worker.module.js';
import { ExecutionModule } from './execution/execution.module.js';
import { ActivityModule } from './activity/activity.module.js';
import { ActivityForwarder } from './logging/activity-forwarder.service.js';
import { LoggingModule } from './logging/logging.module.js';
import { NotificationsWorkerModule } from './notifications/notifications-worker.module.js';
import { WebhooksWorkerModule } from './webhooks/webhooks-worker.module.js';

/** Worker process: every feature, and the processors of the queues. */
@Module({
  imports: [
    FeaturesModule,
    InventoriesWorkerModule,
    ExecutionModule,
    NotificationsWorkerModule,
    WebhooksWorkerModule,
    ActivityModule,
    LoggingModule,
    IdentityWorkerModule,
  ],
  providers: [QueueProcessors, OutboxSweeper, ActivityForwarder],
})
export class WorkerModule {}
