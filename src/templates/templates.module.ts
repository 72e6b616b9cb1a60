import { Module } from '@nestjs/common';
import { JobTemplateHooks } from './job-template.hooks.js';
import { JobTemplatesController } from './job-templates.controller.js';
import { SurveyService } from './survey.service.js';
import { TemplateWebhooks } from './template-webhooks.js';
import { UnifiedTemplatesController } from './unified-templates.controller.js';
import { WebhookKeys } from './webhook-keys.js';

@Module({
  controllers: [JobTemplatesController, UnifiedTemplatesController],
  providers: [JobTemplateHooks, SurveyService, WebhookKeys, TemplateWebhooks],
  exports: [WebhookKeys, TemplateWebhooks],
})
export class TemplatesModule {}
