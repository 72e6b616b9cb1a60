import { Integer } from '../common/fields/field.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';

/** The template of a node that waits for an approval (docs/contract/workflows.md#approvals). */
export class WorkflowApprovalTemplate extends UnifiedTemplate {
  @Integer({ min: 0, default: 0, help: 'Seconds until a pending approval fails; 0: never.' })
  timeout!: number;
}
