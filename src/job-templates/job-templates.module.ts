import { Module } from '@nestjs/common';
import { TemplatesModule } from '../templates/templates.module.js';
import { JobTemplateHooks } from './job-template.hooks.js';
import { JobTemplatesController } from './job-templates.controller.js';

@Module({
  imports: [TemplatesModule],
  controllers: [JobTemplatesController],
  providers: [JobTemplateHooks],
})
export class JobTemplatesModule {}
