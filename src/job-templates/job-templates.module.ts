import { Global, Module } from '@nestjs/common';
import { CredentialUses } from '../credentials/credential-uses.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { JobTemplateHooks } from './job-template.hooks.js';
import { JobTemplateCredentialsRepository } from './job-template-credentials.repository.js';
import { JobTemplatesController } from './job-templates.controller.js';

@Global()
@Module({
  imports: [TemplatesModule],
  controllers: [JobTemplatesController],
  providers: [
    JobTemplateCredentialsRepository,
    { provide: CredentialUses, useExisting: JobTemplateCredentialsRepository },
    JobTemplateHooks,
  ],
  exports: [JobTemplateCredentialsRepository, CredentialUses],
})
export class JobTemplatesModule {}
