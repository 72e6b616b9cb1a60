import { Module } from '@nestjs/common';
import { JobTemplateHooks } from './job-template.hooks.js';

@Module({ providers: [JobTemplateHooks] })
export class TemplatesModule {}
