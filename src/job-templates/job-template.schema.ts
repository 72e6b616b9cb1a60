import {
  Bool,
  Char,
  Choices,
  Includes,
  Integer,
  Json,
  Reference,
  Text,
  Variables,
} from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { JOB_TYPES, VERBOSITIES } from '../prompts/job-options.js';
import { UnifiedTemplateSchema } from '../templates/unified-template.schema.js';
import { WebhookJobTemplateFields } from '../templates/webhook-template.schema.js';

@Includes(WebhookJobTemplateFields)
export class JobTemplateSchema extends UnifiedTemplateSchema {
  @Choices(JOB_TYPES, { default: 'run' })
  job_type!: string;

  @Reference(() => resource('inventory'), { nullable: true, needs: 'use' })
  inventory!: number | null;

  @Reference(() => resource('project'), { nullable: true, needs: 'use' })
  project!: number | null;

  @Char({ max: 1024, help: 'Playbook of the project.' })
  playbook!: string;

  @Reference(() => resource('organization'), {
    readOnly: true,
    nullable: true,
    help: "The project's organization.",
  })
  organization!: number | null;

  @Char({ max: 1024, help: 'Branch, where the project allows to choose one.' })
  scm_branch!: string;

  @Integer({ min: 0, default: 0 })
  forks!: number;

  @Text({ help: 'Host pattern.' })
  limit!: string;

  @Choices(VERBOSITIES, { default: 0 })
  verbosity!: number;

  @Variables({ filter: false, help: 'Variables, JSON or YAML.' })
  extra_vars!: string;

  @Text({ help: 'Comma-separated tags to run.' })
  job_tags!: string;

  @Bool()
  force_handlers!: boolean;

  @Char({ max: 1024, help: 'Comma-separated tags to skip.' })
  skip_tags!: string;

  @Char({ max: 1024 })
  start_at_task!: string;

  @Integer({ min: -1, default: 0, help: 'Seconds; 0 is the default setting, -1 no limit.' })
  timeout!: number;

  @Bool()
  use_fact_cache!: boolean;

  @Bool()
  become_enabled!: boolean;

  @Bool()
  diff_mode!: boolean;

  @Bool({ help: 'Runs may overlap.' })
  allow_simultaneous!: boolean;

  @Integer({ min: 0, default: 1 })
  job_slice_count!: number;

  @Char({ max: 1024, filter: false })
  host_config_key!: string;

  @Bool()
  survey_enabled!: boolean;

  @Bool()
  ask_scm_branch_on_launch!: boolean;
  @Bool()
  ask_diff_mode_on_launch!: boolean;
  @Bool()
  ask_variables_on_launch!: boolean;
  @Bool()
  ask_limit_on_launch!: boolean;
  @Bool()
  ask_tags_on_launch!: boolean;
  @Bool()
  ask_skip_tags_on_launch!: boolean;
  @Bool()
  ask_job_type_on_launch!: boolean;
  @Bool()
  ask_verbosity_on_launch!: boolean;
  @Bool()
  ask_inventory_on_launch!: boolean;
  @Bool()
  ask_credential_on_launch!: boolean;
  @Bool()
  ask_execution_environment_on_launch!: boolean;
  @Bool()
  ask_labels_on_launch!: boolean;
  @Bool()
  ask_forks_on_launch!: boolean;
  @Bool()
  ask_job_slice_count_on_launch!: boolean;
  @Bool()
  ask_timeout_on_launch!: boolean;
  @Bool()
  ask_instance_groups_on_launch!: boolean;

  @Bool()
  prevent_instance_group_fallback!: boolean;

  @Json({ internal: true, nullable: true })
  survey_spec!: object | null;
}
