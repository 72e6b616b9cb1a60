import { Entity, Index } from 'typeorm';
import { WIDE } from '../../common/fields/column-types.js';
import { Bool, Char, DateTime, Integer, Json, Reference, Text } from '../../common/fields/field.js';
import { freeObject } from '../../common/fields/json-schema.js';
import { WideResourceEntity } from '../../common/resource/resource.entity.js';

const READ_ONLY = { readOnly: true } as const;

/** One event of a run (docs/contract/runs.md#events). */
@Entity('job_events')
@Index('job_events_host_id_idx', ['host_id'])
@Index('job_events_created_idx', ['created', 'id'])
@Index('job_events_job_counter_key', ['job_id', 'counter'], { unique: true })
export class JobEvent {
  @Integer({ ...READ_ONLY, ...WIDE, label: 'ID' })
  id!: number;

  @DateTime({ ...READ_ONLY, nullable: false, columnDefault: 'now()' })
  created!: string;

  @DateTime({ ...READ_ONLY, nullable: false, columnDefault: 'now()' })
  modified!: string;

  @Reference('unified_job', { ...WIDE, ...READ_ONLY, index: false, key: true })
  job!: Reference;

  @Char({ ...READ_ONLY, help: 'Name of the event, such as runner_on_ok.' })
  event!: string;

  @Integer({ ...READ_ONLY, default: 0, help: 'Position in the run, from 1.' })
  counter!: number;

  @Char(READ_ONLY)
  event_display!: string;

  @Json({ ...READ_ONLY, schema: freeObject('What ansible-runner says of the event.') })
  event_data!: Record<string, unknown>;

  @Integer({ ...READ_ONLY, default: 0 })
  event_level!: number;

  @Bool(READ_ONLY)
  failed!: boolean;

  @Bool(READ_ONLY)
  changed!: boolean;

  @Char(READ_ONLY)
  uuid!: string;

  @Char(READ_ONLY)
  parent_uuid!: string;

  @Reference('host', { ...READ_ONLY, nullable: true, index: false })
  host!: Reference | null;

  @Char({ ...READ_ONLY, max: 1024 })
  host_name!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  playbook!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  play!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  task!: string;

  @Char({ ...READ_ONLY, max: 1024 })
  role!: string;

  @Text({ ...READ_ONLY, search: true })
  stdout!: string;

  @Integer({ ...READ_ONLY, default: 0 })
  start_line!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  end_line!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  verbosity!: number;
}

/** Task counts of one host in a run, from the run's final statistics. */
@Entity('job_host_summaries')
@Index('job_host_summaries_constructed_host_id_idx', ['constructed_host_id'], {
  where: '(constructed_host_id IS NOT NULL)',
})
@Index('job_host_summaries_job_host_key', ['job_id', 'host_name'], { unique: true })
export class JobHostSummary extends WideResourceEntity {
  @Reference('job', { ...WIDE, ...READ_ONLY, index: false })
  job!: Reference;

  @Reference('host', { ...READ_ONLY, nullable: true })
  host!: Reference | null;

  /**
   * For a job on a constructed inventory, the host in that inventory; `host` is then the original
   * host.
   */
  @Reference('host', { ...READ_ONLY, nullable: true, index: false })
  constructed_host!: Reference | null;

  @Char({ ...READ_ONLY, max: 1024, search: true })
  host_name!: string;

  @Integer({ ...READ_ONLY, default: 0 })
  changed!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  dark!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  failures!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  ok!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  processed!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  skipped!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  ignored!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  rescued!: number;

  @Bool(READ_ONLY)
  failed!: boolean;
}
