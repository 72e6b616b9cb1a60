import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { NotificationStore } from './notification-store.service.js';
import { MessageMaker } from './message-maker.service.js';
import { NotificationsProcessor } from './notifications.processor.js';
import { NotificationsModule } from './notifications.module.js';
import { Notifier } from './notifier.handler.js';
import { RunFactsLoader } from './run-facts.loader.js';

/** Sends notifications; only loaded in the worker process. */
@Module({
  imports: [NotificationsModule, OutboundModule, RunsModule],
  providers: [NotificationStore, MessageMaker, NotificationsProcessor, Notifier, RunFactsLoader],
})
export class NotificationsWorkerModule {}
