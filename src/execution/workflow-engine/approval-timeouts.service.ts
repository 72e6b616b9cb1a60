import { Injectable } from '@nestjs/common';
import { RunTransitions } from '../../runs/run-transitions.service.js';
import { WorkflowJobsRepository } from '../../workflows/workflow-jobs.repository.js';

/** Marks pending approvals as failed when their timeout has passed, by the clock of the database. */
@Injectable()
export class ApprovalTimeouts {
  constructor(
    private readonly workflowJobs: WorkflowJobsRepository,
    private readonly transitions: RunTransitions,
  ) {}

  async expire(): Promise<void> {
    const expired = await this.workflowJobs.expiredApprovals();
    await this.transitions.move(
      expired.map(({ id, name, timeout }) => ({
        id,
        explanation: `The approval node ${name} (${id}) has expired after ${timeout} seconds.`,
      })),
      { from: ['pending'], to: 'failed', fields: { timed_out: true } },
    );
  }
}
