import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { BaseUrl } from './base-url.js';
import { ManualNotifications } from './manual-notifications.service.js';
import { TemplateSandbox } from './message/template-sandbox.js';
import { NotificationTemplateHooks } from './notification-template.hooks.js';
import { NotificationTemplatesController } from './notification-templates.controller.js';
import {
  NotificationAttemptsController,
  NotificationsController,
} from './notifications.controller.js';
import { RunNotifications } from './run-notifications.listener.js';
import { TemplateSecrets } from './template-secrets.js';

/** Ends the thread in which message templates are rendered. */
@Injectable()
class SandboxLifetime implements OnApplicationShutdown {
  constructor(private readonly sandbox: TemplateSandbox) {}

  async onApplicationShutdown(): Promise<void> {
    await this.sandbox.close();
  }
}

@Module({
  controllers: [
    NotificationTemplatesController,
    NotificationsController,
    NotificationAttemptsController,
  ],
  providers: [
    BaseUrl,
    ManualNotifications,
    NotificationTemplateHooks,
    RunNotifications,
    SandboxLifetime,
    { provide: TemplateSandbox, useFactory: () => new TemplateSandbox() },
    TemplateSecrets,
  ],
  exports: [BaseUrl, TemplateSandbox, TemplateSecrets],
})
export class NotificationsModule {}
