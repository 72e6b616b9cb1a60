import { Injectable } from '@nestjs/common';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { isFinal } from '../runs/state-machine.js';
import { WorkflowJobNodesRepository } from './workflow-job-nodes.repository.js';

/**
 * Writes how a node ended in the transaction that ends its run, so that no end is missed and none
 * counts twice. Nodes of a workflow job that is over can start no more.
 */
@Injectable()
@ListensToRuns()
export class NodeOutcomes implements RunListener {
  constructor(private readonly nodes: WorkflowJobNodesRepository) {}

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const over = changes.filter(({ status }) => isFinal(status));
    if (over.length === 0) return;
    await this.nodes.endWith(over);
    const workflows = over.filter(({ type }) => type === 'workflow_job').map(({ jobId }) => jobId);
    if (workflows.length > 0) await this.nodes.skipUnstarted(workflows);
  }
}
