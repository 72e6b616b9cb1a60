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
import { freeObject, INTEGER, mapOf } from '../common/fields/json-schema.js';
import { describedAs } from '../common/fields/options.js';
import { ISOLATIONS } from '../instances/isolation.js';
import { JOB_TYPES, VERBOSITIES } from '../prompts/job-options.js';
import { ExecutedJob, ISOLATION_FIELD, PLACED } from './unified-job.entity.js';
import { VARIABLES_HELP, WebhookRunFields } from './webhook-run.schema.js';
import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CASCADE, WideLinkRow } from '../database/table.js';

const READ_ONLY = { readOnly: true } as const;

export interface Job extends WebhookRunFields {}

/** A playbook run (docs/contract/runs.md#jobs), with the template's options as of its launch. */
@Includes(WebhookRunFields)
export class Job extends ExecutedJob {
  @Reference('instance_group', PLACED)
  override instance_group!: Reference | null;

  @Reference('job_template', { ...READ_ONLY, nullable: true, index: false })
  job_template!: Reference | null;

  @Choices(JOB_TYPES, { ...READ_ONLY, default: 'run' })
  job_type!: string;

  @Reference('inventory', { ...READ_ONLY, nullable: true })
  inventory!: Reference | null;

  @Reference('execution_environment', { ...READ_ONLY, nullable: true, index: false })
  execution_environment!: Reference | null;

  @Reference('project', { ...READ_ONLY, nullable: true })
  project!: Reference | null;

  @Char({ ...READ_ONLY, max: 1024 })
  playbook!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  scm_branch!: string;

  @Integer({ ...READ_ONLY, default: 0 })
  forks!: number;

  @Text(READ_ONLY)
  limit!: string;

  @Choices(VERBOSITIES, { ...READ_ONLY, default: 0 })
  verbosity!: number;

  /** Does not contain the variables of a webhook, which are expanded from its delivery. */
  @Text({ ...READ_ONLY, ...describedAs('json'), filter: false, help: VARIABLES_HELP })
  extra_vars!: string;

  @Text(READ_ONLY)
  job_tags!: string;

  @Bool(READ_ONLY)
  force_handlers!: boolean;

  @Text(READ_ONLY)
  skip_tags!: string;

  @Text(READ_ONLY)
  start_at_task!: string;

  @Integer({ ...READ_ONLY, default: 0 })
  timeout!: number;

  @Bool(READ_ONLY)
  use_fact_cache!: boolean;

  @Bool(READ_ONLY)
  become_enabled!: boolean;

  @Bool(READ_ONLY)
  allow_simultaneous!: boolean;

  @Bool(READ_ONLY)
  diff_mode!: boolean;

  @Json({ ...READ_ONLY, schema: freeObject('What the playbook left with set_stats.') })
  artifacts!: Record<string, unknown>;

  /** Artifacts set under `no_log`, for the workflow of the job: sealed JSON, or empty. */
  @Text({ internal: true, filter: false })
  secret_artifacts!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  scm_revision!: string;

  @Choices(ISOLATIONS, ISOLATION_FIELD)
  isolation!: string;

  @Reference('project_update', {
    ...WIDE,
    ...READ_ONLY,
    nullable: true,
    index: 'where set',
  })
  project_update!: Reference | null;

  @Integer({ ...READ_ONLY, default: 0 })
  job_slice_number!: number;

  @Integer({ ...READ_ONLY, default: 1 })
  job_slice_count!: number;

  /** Number of hosts by status, from the final statistics. */
  @Json({ ...READ_ONLY, detailOnly: true, schema: mapOf(INTEGER) })
  host_status_counts!: Record<string, number>;

  @Json({ ...READ_ONLY, detailOnly: true, schema: mapOf(INTEGER) })
  playbook_counts!: Record<string, number>;
}

/** Credential of a job. */
@Entity('job_credentials')
@Index('job_credentials_key', ['job_id', 'credential_id'], { unique: true })
export class JobCredential extends WideLinkRow {
  @Column('bigint')
  @ForeignKey('unified_jobs', CASCADE)
  job_id!: number;

  @Column('integer')
  @ForeignKey('credentials', CASCADE)
  @Index()
  credential_id!: number;
}

/** Label of a job. */
@Entity('job_labels')
@Index('job_labels_key', ['job_id', 'label_id'], { unique: true })
export class JobLabel extends WideLinkRow {
  @Column('bigint')
  @ForeignKey('unified_jobs', CASCADE)
  job_id!: number;

  @Column('integer')
  @ForeignKey('labels', CASCADE)
  @Index()
  label_id!: number;
}
