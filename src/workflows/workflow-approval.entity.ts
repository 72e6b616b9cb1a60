import { WIDE } from '../common/fields/column-types.js';
import { Bool, Char, Integer, Reference } from '../common/fields/field.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import { UnifiedJob } from '../runs/unified-job.entity.js';

/**
 * An approval that a run waits for: a step of a workflow job
 * (docs/contract/workflows.md#approvals), or a condition for its start
 * (docs/contract/webhooks.md#forks).
 */
@ReadOnly()
export class WorkflowApproval extends UnifiedJob {
  @Char({ internal: true })
  override execution_node!: string;

  @Char({ internal: true })
  override controller_node!: string;

  @Bool({ help: 'The timeout ended before a decision.' })
  timed_out!: boolean;

  /** Seconds after which the approval fails; 0: never. Shown as `approval_expiration`. */
  @Integer({ internal: true, default: 0 })
  timeout!: number;

  /** The workflow job of the step, or the run, of any kind, that waits for the approval. */
  @Reference('workflow_job', {
    ...WIDE,
    hidden: true,
    nullable: true,
    onDelete: 'CASCADE',
    index: false,
  })
  workflow_job!: Reference | null;

  @Reference('user', {
    hidden: true,
    nullable: true,
    index: 'where set',
    help: 'User who approved or denied.',
  })
  approved_or_denied_by!: Reference | null;
}
