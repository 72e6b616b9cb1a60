import { Module } from '@nestjs/common';
import { ActivityModule } from '../activity/activity.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { CleanupTasks } from './cleanup-tasks.service.js';
import { OldRuns } from './old-runs.service.js';

@Module({
  imports: [ActivityModule, AuthModule, NotificationsModule, RunsModule, WebhooksModule],
  providers: [CleanupTasks, OldRuns],
  exports: [CleanupTasks],
})
export class RetentionModule {}
