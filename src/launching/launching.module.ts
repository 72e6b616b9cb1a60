import { Global, Module } from '@nestjs/common';
import { ProjectSyncs } from '../projects/project-syncs.js';
import { SavedLaunchTargets } from '../prompts/saved-launch-targets.js';
import { FormerNodes } from './former-nodes.service.js';
import { LaunchLoader } from './launch.loader.js';
import { ProjectUpdateLaunches } from './project-update-launches.service.js';
import { LaunchRows } from './launch-rows.service.js';
import { LaunchSubjects } from './launch-subjects.service.js';
import { LaunchTargets } from './launch-targets.service.js';
import { LaunchController } from './launch.controller.js';
import { LaunchService } from './launch.service.js';
import { RelaunchController } from './relaunch.controller.js';
import { RelaunchService } from './relaunch.service.js';
import { WorkflowLaunchLoader } from './workflow-launch.loader.js';
import { WorkflowLaunchController } from './workflow-launch.controller.js';
import { WorkflowLaunchService } from './workflow-launch.service.js';
import { WorkflowRelaunch } from './workflow-relaunch.service.js';

/** Creates runs of templates for users, workflows, schedules, webhooks and bulk requests. */
@Global()
@Module({
  controllers: [LaunchController, RelaunchController, WorkflowLaunchController],
  providers: [
    LaunchLoader,
    LaunchRows,
    LaunchService,
    RelaunchService,
    WorkflowLaunchLoader,
    WorkflowLaunchService,
    FormerNodes,
    WorkflowRelaunch,
    LaunchTargets,
    LaunchSubjects,
    { provide: SavedLaunchTargets, useExisting: LaunchTargets },
    { provide: ProjectSyncs, useClass: ProjectUpdateLaunches },
  ],
  exports: [
    LaunchLoader,
    LaunchService,
    RelaunchService,
    SavedLaunchTargets,
    ProjectSyncs,
    WorkflowLaunchLoader,
    WorkflowLaunchService,
    FormerNodes,
    WorkflowRelaunch,
  ],
})
export class LaunchingModule {}
