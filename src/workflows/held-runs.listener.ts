import { Injectable } from '@nestjs/common';
import { BadRequest, Forbidden } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { ListensToRuns, type RunChange, type RunListener } from '../runs/run-changes.service.js';
import { WorkflowJobsRepository } from './workflow-jobs.repository.js';

const NOT_APPROVED = 'The run was not approved, so it cannot be launched again.';
const NOT_DELETABLE = 'An approval that was not granted cannot be deleted before its run.';

/**
 * Runs that wait for an approval before they start (docs/contract/webhooks.md#forks). These runs keep the
 * status `new`, which no scheduler processes, while their approval waits for a decision.
 */
@Injectable()
@ListensToRuns()
export class HeldRuns implements RunListener {
  constructor(
    private readonly jobs: WorkflowJobsRepository,
    private readonly transitions: RunTransitions,
  ) {}

  /** Creates an approval for each of some new runs, in the transaction that creates the runs. */
  async hold(runIds: readonly number[]): Promise<void> {
    if (runIds.length === 0) return;
    await this.transitions.created(await this.jobs.insertHolds(runIds, 'Change from a fork'));
  }

  /** Applies a decision to the run that waits for the approval. Does not change runs that have started. */
  async applyDecision(
    { id, name, workflow_job_id: runId }: Row,
    decision: 'successful' | 'failed',
  ): Promise<void> {
    if (typeof runId !== 'number') return;
    if (decision === 'successful') {
      const fields = { job_explanation: '' };
      await this.transitions.move([runId], { from: ['new'], to: 'pending', fields });
    } else {
      const fields = { job_explanation: `The approval ${String(name)} (${id}) was denied.` };
      await this.transitions.move([runId], { from: ['new'], to: 'canceled', fields });
    }
  }

  /** Cancels the approvals of canceled runs. */
  async runsChanged(changes: readonly RunChange[]): Promise<void> {
    const canceled = changes.filter(
      ({ type, status }) => status === 'canceled' && ['job', 'workflow_job'].includes(type),
    );
    if (canceled.length === 0) return;
    const approvalIds = await this.jobs.pendingApprovalsOf(canceled.map(({ jobId }) => jobId));
    if (approvalIds.length > 0) await this.transitions.cancel(approvalIds);
  }

  /**
   * @throws BadRequest for a run that was never approved: a relaunch must not bypass the approval
   */
  async assertApproved({ id, started, webhook_delivery_id: delivery }: Row): Promise<void> {
    if (started !== null || delivery === null) return;
    if (await this.jobs.lacksApproval(id)) throw new BadRequest(NOT_APPROVED);
  }

  /** @throws Forbidden for an approval that proves that its run was never approved */
  async assertDeletable({ status, workflow_job_id: runId }: Row): Promise<void> {
    if (status === 'successful' || typeof runId !== 'number') return;
    if (!(await this.jobs.hasStarted(runId))) throw new Forbidden(NOT_DELETABLE);
  }
}
