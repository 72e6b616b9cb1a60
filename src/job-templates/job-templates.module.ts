import { Global, Module } from '@nestjs/common';
import { CredentialUses } from '../credentials/credential-uses.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { JobTemplateHooks } from './job-template.hooks.js';
import { JobTemplateCredentialsRepository } from './job-template-credentials.repository.js';
import { JobTemplatesController } from './job-templates.controller.js';
import { JobTemplatesRepository } from './job-templates.repository.js';
import { TemplateProjects } from './template-projects.service.js';

@Global()
@Module({
  imports: [ProjectsModule, TemplatesModule],
  controllers: [JobTemplatesController],
  providers: [
    JobTemplatesRepository,
    JobTemplateCredentialsRepository,
    { provide: CredentialUses, useExisting: JobTemplateCredentialsRepository },
    TemplateProjects,
    JobTemplateHooks,
  ],
  exports: [
    JobTemplatesRepository,
    JobTemplateCredentialsRepository,
    CredentialUses,
    TemplateProjects,
  ],
})
export class JobTemplatesModule {}
