import { Global, Module } from '@nestjs/common';
import { WorkflowStep } from '../../runs/workflow-step.js';
import { ApprovalTimeouts } from './approval-timeouts.js';
import { NodeRuns } from './node-runs.js';
import { WorkflowEngine } from './workflow-engine.js';
import { WorkflowGraphs } from './workflow-graphs.js';

/** Workflows go on in a step of the scheduler. */
@Global()
@Module({
  providers: [
    ...[WorkflowGraphs, NodeRuns, ApprovalTimeouts],
    { provide: WorkflowStep, useClass: WorkflowEngine },
  ],
  exports: [WorkflowStep],
})
export class WorkflowEngineModule {}
