import { Entity, Index } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import {
  Bool,
  Char,
  Choices,
  Includes,
  Integer,
  Json,
  Reference,
  Text,
} from '../common/fields/field.js';
import * as json from '../common/fields/json-schema.js';
import { describedAs } from '../common/fields/options.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import { ISOLATIONS } from '../instances/isolation.js';
import { JOB_TYPES, VERBOSITIES } from '../prompts/job-options.js';
import { ExecutedJob, RUN_FIELDS } from './unified-job.entity.js';
import { VARIABLES_HELP, WebhookRunFields } from './webhook-run.schema.js';
import { LinkTo, WideLinkRow } from '../database/table.js';

export interface Job extends WebhookRunFields {}

/** A playbook run (docs/contract/runs.md#jobs), with the template's options as of its launch. */
@ReadOnly()
@Includes(WebhookRunFields)
export class Job extends ExecutedJob {
  @Reference('instance_group', RUN_FIELDS.instanceGroup)
  override instance_group!: Reference | null;

  @Reference('job_template', {
    nullable: true,
    index: false,
    help: 'Job template that was launched.',
  })
  job_template!: Reference | null;

  @Choices(JOB_TYPES, { default: 'run', help: 'Run, or check without changes.' })
  job_type!: string;

  @Reference('inventory', { nullable: true, help: 'Inventory that the run works on.' })
  inventory!: Reference | null;

  @Reference('execution_environment', RUN_FIELDS.environment)
  execution_environment!: Reference | null;

  @Reference('project', { nullable: true, help: 'Project of the playbook.' })
  project!: Reference | null;

  @Char({ max: 1024, help: 'Playbook of the project.' })
  playbook!: string;

  @Char({ max: 1024, help: 'Branch, tag or commit.' })
  scm_branch!: string;

  @Integer({
    default: 0,
    help: 'Number of hosts that Ansible processes in parallel; 0 for the default of Ansible.',
  })
  forks!: number;

  @Text({ help: 'Host pattern; all hosts when empty.' })
  limit!: string;

  @Choices(VERBOSITIES, { default: 0, help: 'Level of detail of the output.' })
  verbosity!: number;

  /** Does not contain the variables of a webhook, which are expanded from its delivery. */
  @Text({ ...describedAs('json'), filter: false, help: VARIABLES_HELP })
  extra_vars!: string;

  @Text({ help: 'Comma-separated tags to run.' })
  job_tags!: string;

  @Bool({ help: 'If true, notified handlers run although a task failed.' })
  force_handlers!: boolean;

  @Text({ help: 'Comma-separated tags to skip.' })
  skip_tags!: string;

  @Text({ help: 'Name of the task at which the playbook starts.' })
  start_at_task!: string;

  @Integer(RUN_FIELDS.timeout)
  timeout!: number;

  @Bool({ help: 'If true, facts are stored and passed to later jobs.' })
  use_fact_cache!: boolean;

  @Bool({ help: 'If true, tasks run with escalated privileges.' })
  become_enabled!: boolean;

  @Bool({ help: 'If true, the run does not wait for other runs of its template.' })
  allow_simultaneous!: boolean;

  @Bool({ help: 'If true, the output shows the differences in changed files.' })
  diff_mode!: boolean;

  @Json({ schema: json.freeObject('Values that the playbook set with set_stats.') })
  artifacts!: Record<string, unknown>;

  /** Artifacts set under `no_log`, for the workflow of the job: sealed JSON, or empty. */
  @Text({ internal: true, filter: false })
  secret_artifacts!: string;

  @Char({ max: 1024, help: 'Revision of the project.' })
  scm_revision!: string;

  @Choices(ISOLATIONS, RUN_FIELDS.isolation)
  isolation!: string;

  @Reference('project_update', {
    ...WIDE,
    nullable: true,
    index: 'where set',
    help: 'Update of the project that the job started.',
  })
  project_update!: Reference | null;

  @Integer({ default: 0, help: 'Number of the part of the hosts; 0 if the job is not divided.' })
  job_slice_number!: number;

  @Integer({ default: 1, help: 'Number of parts into which the hosts are divided.' })
  job_slice_count!: number;

  /** Number of hosts by status, from the final statistics. */
  @Json({
    detailOnly: true,
    schema: json.mapOf(json.INTEGER),
    help: 'Number of hosts by their last status.',
  })
  host_status_counts!: Record<string, number>;

  @Json({ detailOnly: true, schema: json.mapOf(json.INTEGER), help: 'Number of plays and tasks.' })
  playbook_counts!: Record<string, number>;
}

@Entity('job_credentials')
@Index('job_credentials_key', ['job_id', 'credential_id'], { unique: true })
export class JobCredential extends WideLinkRow {
  @LinkTo('unified_jobs', { type: 'bigint' })
  job_id!: number;

  @LinkTo('credentials', { index: true })
  credential_id!: number;
}

@Entity('job_labels')
@Index('job_labels_key', ['job_id', 'label_id'], { unique: true })
export class JobLabel extends WideLinkRow {
  @LinkTo('unified_jobs', { type: 'bigint' })
  job_id!: number;

  @LinkTo('labels', { index: true })
  label_id!: number;
}
