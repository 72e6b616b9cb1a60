import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { RunHooks } from '../runs/run.hooks.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { HeldRuns } from './held-runs.listener.js';
import type { WorkflowApproval } from './workflow-approval.entity.js';

/** Hooks that delete approvals like runs, except approvals that prove that their run was not approved. */
@Injectable()
export class WorkflowApprovalHooks extends RunHooks {
  constructor(
    runs: RunsRepository,
    private readonly heldRuns: HeldRuns,
  ) {
    super(runs);
  }

  override async prepareDelete(row: RowOf<WorkflowApproval>): Promise<void> {
    await super.prepareDelete(row);
    await this.heldRuns.assertDeletable(row);
  }
}
