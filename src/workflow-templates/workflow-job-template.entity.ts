import { Bool, Includes, Json, Reference } from '../common/fields/field.js';
import type { WorkflowOptions } from '../prompts/launch-options.js';
import { WORKFLOW_OPTIONS, WORKFLOW_SWITCHES } from '../prompts/prompt-columns.js';
import { RetentionFields } from '../templates/retention.schema.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';
import { WebhookJobTemplateFields } from '../templates/webhook-template.schema.js';

export interface WorkflowJobTemplate
  extends WebhookJobTemplateFields, RetentionFields, WorkflowOptions {}

/**
 * A graph of templates that one launch runs
 * (docs/contract/workflows.md#workflow-job-templates).
 */
@Includes(WebhookJobTemplateFields)
@Includes(RetentionFields)
@Includes(WORKFLOW_SWITCHES, 'survey_enabled')
@Includes(WORKFLOW_OPTIONS, 'organization')
export class WorkflowJobTemplate extends UnifiedTemplate {
  @Reference('organization', {
    nullable: true,
    needs: 'workflow_admin',
    help: 'Organization of the object.',
  })
  organization!: Reference | null;

  @Bool({ help: 'Runs may overlap.' })
  allow_simultaneous!: boolean;

  @Bool({ help: 'If true, launches prompt for the survey.' })
  survey_enabled!: boolean;

  @Json({ internal: true, nullable: true })
  survey_spec!: object | null;
}
