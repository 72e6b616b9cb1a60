import { Module } from '@nestjs/common';
import { WorkflowJobHooks } from './workflow-job.hooks.js';
import { WorkflowJobNodesController } from './workflow-job-nodes.controller.js';
import { WorkflowJobsController } from './workflow-jobs.controller.js';
import { WorkflowRows } from './workflow-rows.js';

@Module({
  controllers: [WorkflowJobsController, WorkflowJobNodesController],
  providers: [WorkflowJobHooks, WorkflowRows],
  exports: [WorkflowRows],
})
export class WorkflowsModule {}
