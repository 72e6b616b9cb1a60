import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RunsModule } from '../runs/runs.module.js';
import { ApprovalDecisions } from './approval-decisions.service.js';
import { HeldRuns } from './held-runs.listener.js';
import { NodeOutcomes } from './node-outcomes.listener.js';
import { WorkflowApprovalHooks } from './workflow-approval.hooks.js';
import { WorkflowApprovalsController } from './workflow-approvals.controller.js';
import { WorkflowJobNodesController } from './workflow-job-nodes.controller.js';
import { WorkflowLiveController } from './workflow-live.controller.js';
import { WorkflowJobsController } from './workflow-jobs.controller.js';
import { WorkflowRows } from './workflow-rows.service.js';
import { WorkflowJobsRepository } from './workflow-jobs.repository.js';
import { WorkflowJobNodesRepository } from './workflow-job-nodes.repository.js';
import { WorkflowGraphsRepository } from './workflow-graphs.repository.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';
import {
  WorkflowJobNode,
  WorkflowJobLabel,
  WorkflowJobNodeCredential,
  WorkflowJobNodeEdge,
  WorkflowJobNodeInstanceGroup,
  WorkflowJobNodeLabel,
} from './workflow-job-node.entity.js';
import { WorkflowJobExtension } from './workflow-job.extension.js';
import { WorkflowApprovalExtension } from './workflow-approval.extension.js';
import { WorkflowJobNodeExtension } from './workflow-job-node.extension.js';
import { TemplatesModule } from '../templates/templates.module.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      UnifiedJob,
      WorkflowJobLabel,
      WorkflowJobNode,
      WorkflowJobNodeCredential,
      WorkflowJobNodeEdge,
      WorkflowJobNodeInstanceGroup,
      WorkflowJobNodeLabel,
    ]),
    RunsModule,
    TemplatesModule,
  ],
  controllers: [
    WorkflowJobsController,
    WorkflowLiveController,
    WorkflowJobNodesController,
    WorkflowApprovalsController,
  ],
  providers: [
    WorkflowJobNodeExtension,
    WorkflowApprovalExtension,
    WorkflowJobExtension,
    WorkflowJobsRepository,
    WorkflowJobNodesRepository,
    WorkflowGraphsRepository,
    WorkflowRows,
    ApprovalDecisions,
    HeldRuns,
    NodeOutcomes,
    WorkflowApprovalHooks,
  ],
  exports: [
    WorkflowJobsRepository,
    WorkflowJobNodesRepository,
    WorkflowGraphsRepository,
    WorkflowRows,
    HeldRuns,
  ],
})
export class WorkflowsModule {}
