import { Module } from '@nestjs/common';
import { ApprovalDecisions } from './approval-decisions.js';
import { FormerNodes } from './former-nodes.js';
import { NodeOutcomes } from './node-outcomes.listener.js';
import { WorkflowApprovalsController } from './workflow-approvals.controller.js';
import { WorkflowJobNodesController } from './workflow-job-nodes.controller.js';
import { WorkflowJobsController } from './workflow-jobs.controller.js';
import { WorkflowRelaunch } from './workflow-relaunch.service.js';
import { WorkflowRows } from './workflow-rows.js';

@Module({
  controllers: [WorkflowJobsController, WorkflowJobNodesController, WorkflowApprovalsController],
  providers: [WorkflowRows, FormerNodes, WorkflowRelaunch, ApprovalDecisions, NodeOutcomes],
  exports: [WorkflowRows, FormerNodes, WorkflowRelaunch],
})
export class WorkflowsModule {}
