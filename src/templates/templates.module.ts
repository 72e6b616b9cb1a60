import { Module } from '@nestjs/common';
import { SurveyService } from '../prompts/survey.service.js';
import { UnifiedTemplatesController } from './unified-templates.controller.js';
import { WebhookFields } from './webhook-fields.js';
import { WebhookKeys } from './webhook-keys.js';

@Module({
  controllers: [UnifiedTemplatesController],
  providers: [SurveyService, WebhookFields, WebhookKeys],
  exports: [SurveyService, WebhookFields, WebhookKeys],
})
export class TemplatesModule {}
