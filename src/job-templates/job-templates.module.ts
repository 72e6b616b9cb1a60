import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ProjectsModule } from '../projects/projects.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { JobTemplateCopyController } from './job-template-copy.controller.js';
import { JobTemplateHooks } from './job-template.hooks.js';
import { JobTemplateCredentialsRepository } from './job-template-credentials.repository.js';
import {
  JobTemplatesController,
  JobTemplateSurveyController,
  JobTemplateWebhookKeyController,
} from './job-templates.controller.js';
import { JobTemplatesRepository } from './job-templates.repository.js';
import { TemplateCredentials } from './template-credentials.service.js';
import { TemplateProjects } from './template-projects.service.js';
import { JobTemplateCredential, JobTemplateLabel } from './job-template.entity.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';
import { JobTemplateExtension } from './job-template.extension.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([JobTemplateCredential, JobTemplateLabel, UnifiedTemplate]),
    ProjectsModule,
    TemplatesModule,
  ],
  controllers: [
    JobTemplatesController,
    JobTemplateCopyController,
    JobTemplateSurveyController,
    JobTemplateWebhookKeyController,
  ],
  providers: [
    JobTemplateExtension,
    JobTemplatesRepository,
    JobTemplateCredentialsRepository,
    TemplateCredentials,
    TemplateProjects,
    JobTemplateHooks,
  ],
  exports: [JobTemplatesRepository, JobTemplateCredentialsRepository, TemplateProjects],
})
export class JobTemplatesModule {}
