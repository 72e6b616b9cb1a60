import { Module } from '@nestjs/common';
import { JobTemplateHooks } from '../job-templates/job-template.hooks.js';
import { JobTemplatesController } from '../job-templates/job-templates.controller.js';
import { SurveyService } from '../prompts/survey.service.js';
import { UnifiedTemplatesController } from './unified-templates.controller.js';
import { WebhookFields } from './webhook-fields.js';
import { WebhookKeys } from './webhook-keys.js';

@Module({
  controllers: [JobTemplatesController, UnifiedTemplatesController],
  providers: [JobTemplateHooks, SurveyService, WebhookFields, WebhookKeys],
  exports: [SurveyService, WebhookFields, WebhookKeys],
})
export class TemplatesModule {}
