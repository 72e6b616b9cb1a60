import { Global, Module } from '@nestjs/common';
import { SurveyService } from './survey.service.js';
import { TemplatesRepository } from './templates.repository.js';
import { UnifiedTemplatesController } from './unified-templates.controller.js';
import { WebhookFields } from './webhook-fields.js';
import { WebhookKeys } from './webhook-keys.js';

@Global()
@Module({
  controllers: [UnifiedTemplatesController],
  providers: [TemplatesRepository, SurveyService, WebhookFields, WebhookKeys],
  exports: [TemplatesRepository, SurveyService, WebhookFields, WebhookKeys],
})
export class TemplatesModule {}
