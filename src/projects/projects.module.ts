import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RunsModule } from '../runs/runs.module.js';
import { GitReach } from '../code-hosts/git-reach.js';
import { Settings } from '../config/settings.js';
import { ActivityModule } from '../activity/activity.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { ProjectFolders } from './project-folders.service.js';
import { ProjectHooks } from './project.hooks.js';
import {
  ProjectUpdatesController,
  ProjectUpdateOutputController,
} from './project-updates.controller.js';
import {
  ProjectCopyController,
  ProjectsController,
  ProjectWebhookKeyController,
} from './projects.controller.js';
import { ProjectUpdateLauncher } from './project-update-launcher.service.js';
import { ProjectUpdatesRepository } from './project-updates.repository.js';
import { ProjectsRepository } from './projects.repository.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';
import { ProjectExtension } from './project.extension.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([UnifiedJob, UnifiedTemplate]),
    ActivityModule,
    CredentialsModule,
    RunsModule,
    TemplatesModule,
  ],
  controllers: [
    ProjectsController,
    ProjectCopyController,
    ProjectWebhookKeyController,
    ProjectUpdatesController,
    ProjectUpdateOutputController,
  ],
  providers: [
    ProjectExtension,
    ProjectsRepository,
    ProjectUpdatesRepository,
    ProjectUpdateLauncher,
    ProjectFolders,
    ProjectHooks,
    {
      provide: GitReach,
      inject: [Settings],
      useFactory: (settings: Settings) => new GitReach(settings),
    },
  ],
  exports: [
    ProjectsRepository,
    ProjectUpdatesRepository,
    ProjectUpdateLauncher,
    ProjectFolders,
    GitReach,
  ],
})
export class ProjectsModule {}
