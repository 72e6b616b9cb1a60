import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TemplateSandbox } from './message/template-sandbox.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { NotificationAttemptsController } from './notification-attempts.controller.js';
import { NotificationAttemptsRepository } from './notification-attempts.repository.js';
import { NotificationLeasesRepository } from './notification-leases.repository.js';
import { NotificationResends } from './notification-resends.service.js';
import { NotificationTemplateHooks } from './notification-template.hooks.js';
import {
  NotificationTemplateCopyController,
  NotificationTemplatesController,
} from './notification-templates.controller.js';
import { NotificationTemplatesRepository } from './notification-templates.repository.js';
import { NotificationTests } from './notification-tests.service.js';
import { NotificationsController } from './notifications.controller.js';
import { NotificationsRepository } from './notifications.repository.js';
import { RunNotifications } from './run-notifications.listener.js';
import { TemplateSecrets } from './template-secrets.service.js';
import { Notification, NotificationAttempt, NotificationTotal } from './notification.entity.js';
import { NotificationTemplate } from './notification-template.entity.js';
import { NotificationTemplateExtension } from './notification-template.extension.js';

const repositories = [
  NotificationsRepository,
  NotificationLeasesRepository,
  NotificationAttemptsRepository,
  NotificationTemplatesRepository,
];

@Module({
  imports: [
    OutboundModule,
    TypeOrmModule.forFeature([
      Notification,
      NotificationAttempt,
      NotificationTemplate,
      NotificationTotal,
    ]),
  ],
  controllers: [
    NotificationTemplatesController,
    NotificationTemplateCopyController,
    NotificationsController,
    NotificationAttemptsController,
  ],
  providers: [
    NotificationTemplateExtension,
    ...repositories,
    NotificationResends,
    NotificationTemplateHooks,
    NotificationTests,
    RunNotifications,
    { provide: TemplateSandbox, useFactory: () => new TemplateSandbox() },
    TemplateSecrets,
  ],
  exports: [...repositories, TemplateSandbox, TemplateSecrets],
})
export class NotificationsModule {}
