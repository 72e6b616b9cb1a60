import { Bool, Char, Includes, Json, Reference } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import type { TemplateOptions } from '../prompts/launch-options.js';
import { TEMPLATE_OPTIONS, TEMPLATE_SWITCHES } from '../prompts/prompt-columns.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';
import { WebhookJobTemplateFields } from '../templates/webhook-template.schema.js';

export interface JobTemplate extends WebhookJobTemplateFields, TemplateOptions {}

@Includes(WebhookJobTemplateFields)
@Includes(TEMPLATE_SWITCHES, 'survey_enabled')
@Includes(TEMPLATE_OPTIONS, 'organization')
export class JobTemplate extends UnifiedTemplate {
  @Reference(() => resource('project'), { nullable: true, needs: 'use' })
  project!: Reference | null;

  @Char({ max: 1024, help: 'Playbook of the project.' })
  playbook!: string;

  @Reference(() => resource('organization'), {
    readOnly: true,
    nullable: true,
    help: "The project's organization.",
  })
  organization!: Reference | null;

  @Bool()
  force_handlers!: boolean;

  @Char({ max: 1024 })
  start_at_task!: string;

  @Bool()
  use_fact_cache!: boolean;

  @Bool()
  become_enabled!: boolean;

  @Bool({ help: 'Runs may overlap.' })
  allow_simultaneous!: boolean;

  @Char({ max: 1024, filter: false })
  host_config_key!: string;

  @Bool()
  survey_enabled!: boolean;

  @Bool()
  prevent_instance_group_fallback!: boolean;

  @Json({ internal: true, nullable: true })
  survey_spec!: object | null;
}
