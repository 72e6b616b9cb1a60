import { Module } from '@nestjs/common';
import { TemplatesModule } from '../templates/templates.module.js';
import { ProjectFolders } from './project-folders.js';
import { ProjectHooks } from './project.hooks.js';
import { ProjectUpdatesController } from './project-updates.controller.js';
import { ProjectsController } from './projects.controller.js';

@Module({
  imports: [TemplatesModule],
  controllers: [ProjectsController, ProjectUpdatesController],
  providers: [ProjectFolders, ProjectHooks],
  exports: [ProjectFolders],
})
export class ProjectsModule {}
