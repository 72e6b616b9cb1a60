import { Injectable } from '@nestjs/common';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { isFinal } from '../runs/state-machine.js';
import { WorkflowJobNodesRepository } from './workflow-job-nodes.repository.js';

/**
 * Stores the outcome of a node in the transaction that ends its run, so that no end is missed or
 * counted twice. Skips the nodes of a finished workflow job that were not started.
 */
@Injectable()
@ListensToRuns()
export class NodeOutcomes implements RunListener {
  constructor(private readonly nodes: WorkflowJobNodesRepository) {}

  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const ended = changes.filter(({ status }) => isFinal(status));
    if (ended.length === 0) return;
    await this.nodes.storeOutcomes(ended);
    const workflows = ended.filter(({ type }) => type === 'workflow_job').map(({ jobId }) => jobId);
    if (workflows.length > 0) await this.nodes.skipUnstarted(workflows);
  }
}
