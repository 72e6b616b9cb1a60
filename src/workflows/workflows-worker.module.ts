import { Global, Module } from '@nestjs/common';
import { WorkflowStep } from '../jobs/scheduler/workflow-step.js';
import { WorkflowEngine } from './workflow-engine.js';

/** What of workflows happens in the worker: a step of the scheduler. */
@Global()
@Module({
  providers: [{ provide: WorkflowStep, useClass: WorkflowEngine }],
  exports: [WorkflowStep],
})
export class WorkflowsWorkerModule {}
