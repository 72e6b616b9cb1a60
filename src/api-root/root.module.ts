import { Module } from '@nestjs/common';
import { ActivityModule } from '../activity/activity.module.js';
import { LoggingModule } from '../logging/logging.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsService } from './metrics.service.js';
import { RootController } from './root.controller.js';
import { RootService } from './root.service.js';

@Module({
  imports: [
    ActivityModule,
    IdentityModule,
    InstancesModule,
    LoggingModule,
    NotificationsModule,
    OutboundModule,
    RunsModule,
  ],
  controllers: [RootController, HealthController, MetricsController],
  providers: [RootService, HealthService, MetricsService],
})
export class RootModule {}
