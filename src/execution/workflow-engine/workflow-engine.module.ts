import { Global, Module } from '@nestjs/common';
import { WorkflowStep } from '../../runs/workflow-step.js';
import { ApprovalTimeouts } from './approval-timeouts.service.js';
import { NodeRuns } from './node-runs.service.js';
import { WorkflowEngine } from './workflow-engine.js';
import { WorkflowGraphs } from './workflow-graphs.service.js';

/** Registers the workflow engine as a step of the scheduler. */
@Global()
@Module({
  providers: [
    WorkflowGraphs,
    NodeRuns,
    ApprovalTimeouts,
    { provide: WorkflowStep, useClass: WorkflowEngine },
  ],
  exports: [WorkflowStep],
})
export class WorkflowEngineModule {}
