import { Bool, Char, Includes, Json, Reference, Text, Variables } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { UnifiedTemplateSchema } from '../templates/unified-template.schema.js';
import { WebhookJobTemplateFields } from '../templates/webhook-template.schema.js';

/** A value the workflow hands to the nodes that ask for it; null: none. */
const PROMPT = { nullable: true } as const;

/**
 * A graph of templates that is launched as one (docs/contract/workflows.md#workflow-job-templates).
 */
@Includes(WebhookJobTemplateFields)
export class WorkflowTemplateSchema extends UnifiedTemplateSchema {
  @Reference(() => resource('organization'), { nullable: true, needs: 'workflow_admin' })
  organization!: number | null;

  @Variables({ filter: false, help: 'Variables, JSON or YAML.' })
  extra_vars!: string;

  @Reference(() => resource('inventory'), { ...PROMPT, needs: 'use' })
  inventory!: number | null;

  @Text({ ...PROMPT, help: 'Host pattern.' })
  limit!: string | null;

  @Char({ ...PROMPT, max: 1024, help: 'Branch for the projects that allow to choose one.' })
  scm_branch!: string | null;

  @Text({ ...PROMPT, help: 'Comma-separated tags to run.' })
  job_tags!: string | null;

  @Char({ ...PROMPT, max: 1024, help: 'Comma-separated tags to skip.' })
  skip_tags!: string | null;

  @Bool({ help: 'Runs may overlap.' })
  allow_simultaneous!: boolean;

  @Bool()
  survey_enabled!: boolean;

  @Bool()
  ask_variables_on_launch!: boolean;
  @Bool()
  ask_inventory_on_launch!: boolean;
  @Bool()
  ask_limit_on_launch!: boolean;
  @Bool()
  ask_scm_branch_on_launch!: boolean;
  @Bool()
  ask_labels_on_launch!: boolean;
  @Bool()
  ask_tags_on_launch!: boolean;
  @Bool()
  ask_skip_tags_on_launch!: boolean;

  @Json({ internal: true, nullable: true })
  survey_spec!: object | null;
}
