import { Entity, Index } from 'typeorm';
import { Bool, Char, Includes, Json, Reference } from '../common/fields/field.js';
import type { TemplateOptions } from '../prompts/launch-options.js';
import { TEMPLATE_OPTIONS, TEMPLATE_SWITCHES } from '../prompts/prompt-columns.js';
import { RetentionFields } from '../templates/retention.schema.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';
import { WebhookJobTemplateFields } from '../templates/webhook-template.schema.js';
import { LinkRow, LinkTo } from '../database/table.js';

export interface JobTemplate extends WebhookJobTemplateFields, RetentionFields, TemplateOptions {}

@Includes(WebhookJobTemplateFields)
@Includes(RetentionFields)
@Includes(TEMPLATE_SWITCHES, 'survey_enabled')
@Includes(TEMPLATE_OPTIONS, 'organization')
export class JobTemplate extends UnifiedTemplate {
  @Reference('project', { nullable: true, needs: 'use', help: 'Project of the playbook.' })
  project!: Reference | null;

  @Char({ max: 1024, help: 'Playbook of the project.' })
  playbook!: string;

  @Reference('organization', {
    readOnly: true,
    nullable: true,
    help: "The project's organization.",
  })
  organization!: Reference | null;

  @Bool({ help: 'If true, notified handlers run although a task failed.' })
  force_handlers!: boolean;

  @Char({ max: 1024, help: 'Name of the task at which the playbook starts.' })
  start_at_task!: string;

  @Bool({ help: 'If true, facts are stored and passed to later jobs.' })
  use_fact_cache!: boolean;

  @Bool({ help: 'If true, tasks run with escalated privileges.' })
  become_enabled!: boolean;

  @Bool({ help: 'Runs may overlap.' })
  allow_simultaneous!: boolean;

  @Char({ max: 1024, filter: false, help: 'Key that hosts send with provisioning callbacks.' })
  host_config_key!: string;

  @Bool({ help: 'If true, launches prompt for the survey.' })
  survey_enabled!: boolean;

  @Bool({
    help: 'If true, jobs do not use the instance groups of the inventory and the organization.',
  })
  prevent_instance_group_fallback!: boolean;

  @Json({ internal: true, nullable: true })
  survey_spec!: object | null;
}

@Entity('job_template_credentials')
@Index('job_template_credentials_key', ['job_template_id', 'credential_id'], { unique: true })
export class JobTemplateCredential extends LinkRow {
  @LinkTo('unified_job_templates')
  job_template_id!: number;

  @LinkTo('credentials', { index: true })
  credential_id!: number;
}

@Entity('job_template_labels')
@Index('job_template_labels_key', ['job_template_id', 'label_id'], { unique: true })
export class JobTemplateLabel extends LinkRow {
  @LinkTo('unified_job_templates')
  job_template_id!: number;

  @LinkTo('labels', { index: true })
  label_id!: number;
}
