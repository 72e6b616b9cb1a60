import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { NotificationStore } from './notification-store.service.js';
import { MessageRenderer } from './message-renderer.service.js';
import { NotificationsProcessor } from './notifications.processor.js';
import { NotificationsModule } from './notifications.module.js';
import { Notifier } from './notifier.handler.js';
import { RunFactsLoader } from './run-facts.loader.js';

/** Sends notifications; only loaded in the worker process. */
@Module({
  imports: [NotificationsModule, OutboundModule, RunsModule],
  providers: [NotificationStore, MessageRenderer, NotificationsProcessor, Notifier, RunFactsLoader],
})
export class NotificationsWorkerModule {}
