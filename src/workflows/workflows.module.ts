import { Global, Module } from '@nestjs/common';
import { ApprovalDecisions } from './approval-decisions.js';
import { FormerNodes } from '../launching/former-nodes.js';
import { NodeOutcomes } from './node-outcomes.listener.js';
import { SlicedLaunches } from '../launching/sliced-launches.js';
import { SlicedJobs } from '../launching/sliced-jobs.js';
import { WorkflowApprovalsController } from './workflow-approvals.controller.js';
import { WorkflowJobNodesController } from './workflow-job-nodes.controller.js';
import { ApprovalPanel } from './pages/approval.panel.js';
import { WorkflowRunPanel } from './pages/workflow-run.panel.js';
import { WorkflowLiveController } from './workflow-live.controller.js';
import { WorkflowJobsController } from './workflow-jobs.controller.js';
import { WorkflowRelaunch } from '../launching/workflow-relaunch.service.js';
import { WorkflowRows } from './workflow-rows.js';

@Global()
@Module({
  controllers: [
    WorkflowJobsController,
    WorkflowLiveController,
    WorkflowJobNodesController,
    WorkflowApprovalsController,
  ],
  providers: [
    WorkflowRows,
    FormerNodes,
    WorkflowRelaunch,
    ApprovalDecisions,
    NodeOutcomes,
    { provide: SlicedLaunches, useClass: SlicedJobs },
    WorkflowRunPanel,
    ApprovalPanel,
  ],
  exports: [WorkflowRows, FormerNodes, WorkflowRelaunch, SlicedLaunches],
})
export class WorkflowsModule {}
