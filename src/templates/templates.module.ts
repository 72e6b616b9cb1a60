import { Global, Module } from '@nestjs/common';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { InventoryTemplates } from '../inventories/inventory-uses.js';
import { SurveyService } from './survey.service.js';
import { TemplateNotificationsRepository } from './template-notifications.repository.js';
import { TemplatesRepository } from './templates.repository.js';
import { UnifiedJobTemplatesController } from './unified-job-templates.controller.js';
import { WebhookFields } from './webhook-fields.service.js';
import { WebhookKeys } from './webhook-keys.service.js';

@Global()
@Module({
  imports: [CredentialsModule],
  controllers: [UnifiedJobTemplatesController],
  providers: [
    TemplatesRepository,
    { provide: InventoryTemplates, useExisting: TemplatesRepository },
    TemplateNotificationsRepository,
    SurveyService,
    WebhookFields,
    WebhookKeys,
  ],
  exports: [TemplatesRepository, InventoryTemplates, SurveyService, WebhookFields, WebhookKeys],
})
export class TemplatesModule {}
