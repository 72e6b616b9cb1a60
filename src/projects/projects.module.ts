import { Module } from '@nestjs/common';
import { ProjectHooks } from './project.hooks.js';
import { ProjectUpdateHooks } from './project-update.hooks.js';

@Module({ providers: [ProjectHooks, ProjectUpdateHooks] })
export class ProjectsModule {}
