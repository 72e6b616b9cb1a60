import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { BadRequest } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { not } from '../database/sql.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { HeldRuns } from './held-runs.listener.js';
import { IS_EXPIRED } from './workflow-jobs.repository.js';
import { workflowApprovals } from './workflow-approvals.resource.js';

/** Decides on approvals (docs/contract/workflows.md#approvals). */
@Injectable()
export class ApprovalDecisions {
  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
    private readonly activity: ActivityRecorder,
    private readonly heldRuns: HeldRuns,
  ) {}

  /**
   * Ends an approval. Of several simultaneous decisions exactly one takes effect.
   *
   * @throws BadRequest if the approval is already decided, or its timeout has passed
   */
  async decide(approval: Row, decision: 'successful' | 'failed', actor: Actor): Promise<void> {
    await this.database.transaction(async () => {
      const [decided] = await this.transitions.move([approval.id], {
        from: ['pending'],
        to: decision,
        fields: { approved_or_denied_by_id: actor.id },
        where: not(IS_EXPIRED),
      });
      if (!decided) {
        throw new BadRequest('This workflow step has already been approved or denied.');
      }
      await this.heldRuns.applyDecision(approval, decision);
      this.activity.recordUpdate(workflowApprovals, approval, {
        id: approval.id,
        status: ['pending', decision],
      });
    });
  }
}
