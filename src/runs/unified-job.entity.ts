import { Column, Entity, Index } from 'typeorm';
import {
  Bool,
  Char,
  Choices,
  DateTime,
  Float,
  Integer,
  Json,
  Reference,
  Text,
} from '../common/fields/field.js';
import { labelOf } from '../common/fields/label.js';
import * as json from '../common/fields/json-schema.js';
import { HIDDEN_REFERENCE, WideResourceEntity } from '../common/resource/resource.entity.js';
import type { LaunchConfig } from '../prompts/launch-secrets.js';

const withLabels = (values: readonly string[]) =>
  values.map((value) => [value, value === 'scm' ? 'Source control' : labelOf(value)] as const);

export const JOB_STATUSES = [
  'new',
  'pending',
  'waiting',
  'running',
  'successful',
  'failed',
  'error',
  'canceled',
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

const LAUNCH_TYPES = [
  'manual',
  'relaunch',
  'callback',
  'scheduled',
  'dependency',
  'workflow',
  'webhook',
  'sync',
  'scm',
] as const;
export type LaunchType = (typeof LAUNCH_TYPES)[number];

/** Options of the fields that several kinds of runs have. */
export const RUN_FIELDS = {
  /** Visible on jobs and inventory updates only. */
  instanceGroup: {
    readOnly: true,
    nullable: true,
    index: false,
    help: 'Instance group that the run was assigned to.',
  },
  environment: {
    nullable: true,
    index: false,
    help: 'Execution environment of the run; null for the default.',
  },
  timeout: {
    default: 0,
    help: 'Seconds until the run is canceled; 0 for the setting, -1 for no limit.',
  },
  /** For runs that use a project's files. */
  isolation: {
    readOnly: true,
    help: 'Isolation from this installation and from other runs; empty before the run started.',
  },
} as const;

/**
 * Fields of every run (docs/contract/runs.md#fields-of-runs). All kinds share a table and its ids
 * (docs/contract/conventions.md#ids-of-templates-and-runs).
 */
@Entity('unified_jobs')
@Index('unified_jobs_execution_environment_id_idx', ['execution_environment_id'], {
  where: '(execution_environment_id IS NOT NULL)',
})
@Index('unified_jobs_workflow_job_id_idx', ['workflow_job_id'], {
  where: '(workflow_job_id IS NOT NULL)',
})
@Index('unified_jobs_type_id_idx', ['type', 'id'])
@Index('unified_jobs_status_idx', ['status', 'id'])
// For the scheduler, which searches all pending runs for these few runs in every pass.
@Index('unified_jobs_unsettled_idx', ['id'], {
  where:
    "((status = 'pending'::text) AND (NOT dependencies_processed) AND " +
    "(type = ANY (ARRAY['job'::text, 'inventory_update'::text])))",
})
@Index('unified_jobs_dependent_idx', ['id'], {
  where: "((status = 'pending'::text) AND ((depends_on)::text <> '[]'::text))",
})
// Indexes for lists of runs, of one kind or of all kinds. The kind is the last column, because
// totals need no other.
@Index('unified_jobs_finished_idx', ['finished', 'id', 'type'])
@Index('unified_jobs_type_finished_idx', ['type', 'finished', 'id'])
@Index('unified_jobs_created_idx', ['created', 'id', 'type'])
@Index('unified_jobs_name_idx', ['name', 'id', 'type'])
@Index('unified_jobs_started_idx', ['started', 'id', 'type'])
@Index('unified_jobs_launch_type_idx', ['launch_type', 'id', 'type'])
@Index('unified_jobs_failed_idx', ['finished', 'id', 'type'], { where: 'failed' })
@Index('unified_jobs_status_finished_idx', ['status', 'finished', 'id', 'type'])
@Index('unified_jobs_job_template_idx', ['job_template_id', 'id', 'type'])
@Index('unified_jobs_job_template_finished_idx', ['job_template_id', 'finished', 'id', 'type'])
// For the newest runs of a template, which are displayed with it.
@Index('unified_jobs_template_kind_idx', ['unified_job_template_id', 'id', 'type'])
@Index('unified_jobs_organization_idx', ['organization_id', 'id', 'type'])
// By trigrams, see docs/decisions/0073-indexes.md.
@Index('unified_jobs_text_idx', { synchronize: false })
// For the runs of a machine and of an instance group.
@Index('unified_jobs_execution_node_idx', ['execution_node', 'id'], {
  where: "(execution_node <> ''::text)",
})
@Index('unified_jobs_instance_group_idx', ['instance_group_id', 'id'], {
  where: '(instance_group_id IS NOT NULL)',
})
@Index('unified_jobs_schedule_key', ['schedule_id', 'schedule_occurrence'], {
  where: '(schedule_id IS NOT NULL)',
  unique: true,
})
export class UnifiedJob extends WideResourceEntity {
  /** Kind of the run, which names the subclass. */
  @Column('text')
  type!: string;

  @Reference('user', HIDDEN_REFERENCE)
  created_by!: Reference | null;

  @Reference('user', HIDDEN_REFERENCE)
  modified_by!: Reference | null;

  @Char({ readOnly: true, search: true, help: 'Name of this object.' })
  name!: string;

  @Text({ readOnly: true, search: true, help: 'Optional description.' })
  description!: string;

  @Reference('unified_job_template', {
    label: 'Template',
    readOnly: true,
    nullable: true,
    index: false,
    help: 'Template of the run.',
  })
  unified_job_template!: Reference | null;

  @Choices(withLabels(LAUNCH_TYPES), {
    readOnly: true,
    default: 'manual',
    help: 'Way in which the run was launched.',
  })
  launch_type!: string;

  @Choices(withLabels(JOB_STATUSES), { readOnly: true, default: 'new', help: 'Status of the run.' })
  status!: JobStatus;

  @Bool({ readOnly: true, help: 'True if the run failed.' })
  failed!: boolean;

  @DateTime({ readOnly: true, help: 'Time at which the run started.' })
  started!: string | null;

  @DateTime({ readOnly: true, help: 'Time at which the run ended.' })
  finished!: string | null;

  @DateTime({ readOnly: true, help: 'Time at which the run was canceled.' })
  canceled_on!: string | null;

  @Float({ readOnly: true, default: 0, columnType: 'double precision', help: 'Seconds.' })
  elapsed!: number;

  @Text({ readOnly: true, help: 'Explanation of the status, if it is not obvious.' })
  job_explanation!: string;

  @Char({ readOnly: true, help: 'Instance that executes the run.' })
  execution_node!: string;

  @Char({ readOnly: true, help: 'Instance that controls the run.' })
  controller_node!: string;

  @Reference('instance_group', { ...RUN_FIELDS.instanceGroup, hidden: true })
  instance_group!: Reference | null;

  /** Instance groups that can execute the run, best first; null until the scheduler chooses them. */
  @Column('integer', { array: true, nullable: true })
  preferred_groups!: number[] | null;

  /** Number of forks that the run is counted as, compared with `max_forks` of its instance group. */
  @Integer({ internal: true, default: 1 })
  impact!: number;

  @Reference('organization', {
    readOnly: true,
    nullable: true,
    index: false,
    help: 'Organization that the run belongs to.',
  })
  organization!: Reference | null;

  @Reference('schedule', {
    readOnly: true,
    nullable: true,
    hidden: true,
    index: false,
    help: 'Schedule that launched the run.',
  })
  schedule!: Reference | null;

  /** Occurrence of the schedule; each occurrence is launched once. */
  @DateTime({ internal: true })
  schedule_occurrence!: string | null;

  /** Lease number. An update by a worker must contain it, otherwise the update changes nothing. */
  @Integer({ internal: true, default: 0 })
  attempt!: number;

  @DateTime({ internal: true })
  lease_until!: string | null;

  @Char({ internal: true })
  lease_holder!: string;

  /** True while the worker reads the results of the run's program. */
  @Bool({ internal: true })
  reads_results!: boolean;

  @Bool({ internal: true })
  cancel_requested!: boolean;

  @Bool({ internal: true })
  dependencies_processed!: boolean;

  /** Runs that must succeed before this one starts. */
  @Json({ internal: true, default: [] })
  depends_on!: number[];

  /** Number of stored events of the run, maintained by triggers on the events. */
  @Integer({ internal: true, default: 0 })
  event_total!: number;

  /** Passwords given at launch, sealed for this row; cleared when the run ends. */
  @Text({ internal: true, filter: false })
  start_args!: string;

  /** Prompts that were set at launch, with their values as sent. */
  @Json({ internal: true, nullable: true })
  launch_config!: LaunchConfig | null;
}

/** An execution environment as of the creation of its run. */
export interface RunEnvironment {
  name: string;
  image: string;
  pull: string;
}

/**
 * Results of a run with a process, besides its events; most of them are only part of the detail.
 */
export abstract class ExecutedJob extends UnifiedJob {
  @Json({
    readOnly: true,
    detailOnly: true,
    nullable: true,
    schema: json.object({ name: json.STRING, image: json.STRING, pull: json.STRING }),
    help: 'The execution environment as of the creation of the run; null: the programs of the worker.',
  })
  environment!: RunEnvironment | null;

  @Char({
    readOnly: true,
    detailOnly: true,
    filter: false,
    help: 'Digest of the image that the run was executed in.',
  })
  environment_digest!: string;

  @Text({ readOnly: true, detailOnly: true, filter: false, help: 'Command line of the run.' })
  job_args!: string;

  @Text({ readOnly: true, detailOnly: true, help: 'Working directory of the run.' })
  job_cwd!: string;

  @Json({
    readOnly: true,
    detailOnly: true,
    schema: json.mapOf(json.STRING),
    help: 'Environment variables of the run; secrets are replaced.',
  })
  job_env!: Record<string, string>;

  @Text({ readOnly: true, detailOnly: true, help: 'Cause of an internal error.' })
  result_traceback!: string;

  @Bool({ readOnly: true, help: 'True if all events of the run are stored.' })
  event_processing_finished!: boolean;

  @Integer({ internal: true, default: 0 })
  emitted_events!: number;
}
