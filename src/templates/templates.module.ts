import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { SurveyService } from './survey.service.js';
import { TemplatesRepository } from './templates.repository.js';
import { UnifiedJobTemplatesController } from './unified-job-templates.controller.js';
import { WebhookFields } from './webhook-fields.service.js';
import { WebhookKeys } from './webhook-keys.service.js';
import { UnifiedTemplate, TemplateNotification } from './unified-template.entity.js';
import { TemplateSummaries } from './template-summaries.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([TemplateNotification, UnifiedTemplate]), CredentialsModule],
  controllers: [UnifiedJobTemplatesController],
  providers: [TemplatesRepository, SurveyService, TemplateSummaries, WebhookFields, WebhookKeys],
  exports: [TemplatesRepository, SurveyService, TemplateSummaries, WebhookFields, WebhookKeys],
})
export class TemplatesModule {}
