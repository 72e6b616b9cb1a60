import { Module } from '@nestjs/common';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { ExecutionEnvironmentsModule } from '../execution-environments/execution-environments.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { InventoriesModule } from '../inventories/inventories.module.js';
import { InventorySourcesModule } from '../inventory-sources/inventory-sources.module.js';
import { JobTemplatesModule } from '../job-templates/job-templates.module.js';
import { LabelsModule } from '../labels/labels.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { SystemJobsModule } from '../system-jobs/system-jobs.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { WorkflowTemplatesModule } from '../workflow-templates/workflow-templates.module.js';
import { FormerNodes } from './former-nodes.service.js';
import { LaunchLoader } from './launch.loader.js';
import { LaunchRows } from './launch-rows.service.js';
import { LaunchTargets } from './launch-targets.service.js';
import { LaunchController, WorkflowLaunchController } from './launch.controllers.js';
import { Launchers } from './launchers.service.js';
import { JobLauncher } from './job-launcher.service.js';
import { RelaunchController } from './relaunch.controller.js';
import { RelaunchService } from './relaunch.service.js';
import { RunEnvironments } from './run-environments.listener.js';
import { WorkflowJobLauncher } from './workflow-job-launcher.service.js';
import { WorkflowRelaunch } from './workflow-relaunch.service.js';

/** Creates runs of templates for users, workflows, schedules, webhooks and bulk requests. */
@Module({
  imports: [
    CredentialsModule,
    ExecutionEnvironmentsModule,
    InstancesModule,
    InventoriesModule,
    InventorySourcesModule,
    JobTemplatesModule,
    LabelsModule,
    ProjectsModule,
    RunsModule,
    SystemJobsModule,
    TemplatesModule,
    WorkflowsModule,
    WorkflowTemplatesModule,
  ],
  controllers: [LaunchController, RelaunchController, WorkflowLaunchController],
  providers: [
    LaunchLoader,
    LaunchRows,
    JobLauncher,
    RelaunchService,
    WorkflowJobLauncher,
    FormerNodes,
    WorkflowRelaunch,
    LaunchTargets,
    Launchers,
    RunEnvironments,
  ],
  exports: [
    LaunchLoader,
    JobLauncher,
    RelaunchService,
    LaunchTargets,
    Launchers,
    RunEnvironments,
    WorkflowJobLauncher,
    FormerNodes,
    WorkflowRelaunch,
  ],
})
export class LaunchingModule {}
