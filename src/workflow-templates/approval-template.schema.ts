import { Integer } from '../common/fields/field.js';
import { UnifiedTemplateSchema } from '../templates/unified-template.schema.js';

/** The template of a node that waits for an approval (docs/contract/workflows.md#approvals). */
export class ApprovalTemplateSchema extends UnifiedTemplateSchema {
  @Integer({ min: 0, default: 0, help: 'Seconds until an undecided approval fails; 0 is never.' })
  timeout!: number;
}
