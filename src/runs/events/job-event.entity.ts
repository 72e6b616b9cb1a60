import { Entity, Index } from 'typeorm';
import { WIDE } from '../../common/fields/column-types.js';
import { Bool, Char, DateTime, Integer, Json, Reference, Text } from '../../common/fields/field.js';
import { freeObject } from '../../common/fields/json-schema.js';
import { ReadOnly } from '../../common/fields/read-only.decorator.js';
import { WideResourceEntity } from '../../common/resource/resource.entity.js';

/** One event of a run (docs/contract/runs.md#events). */
@ReadOnly()
@Entity('job_events')
@Index('job_events_host_id_idx', ['host_id'])
@Index('job_events_created_idx', ['created', 'id'])
@Index('job_events_job_counter_key', ['job_id', 'counter'], { unique: true })
// For the durations of tasks, which need only a few events of each job.
@Index('job_events_steps_idx', ['job_id', 'counter'], {
  where:
    "(event = ANY (ARRAY['playbook_on_task_start'::text, 'playbook_on_handler_task_start'::text, 'playbook_on_play_start'::text, 'playbook_on_stats'::text]))",
})
export class JobEvent {
  @Integer({ ...WIDE, label: 'ID', help: 'Database id of this object.' })
  id!: number;

  @DateTime({
    nullable: false,
    columnDefault: 'now()',
    help: 'Time at which the object was created.',
  })
  created!: string;

  @DateTime({ nullable: false, columnDefault: 'now()', help: 'Time of the last change.' })
  modified!: string;

  @Reference('unified_job', {
    ...WIDE,
    index: false,
    key: true,
    help: 'Job of the event.',
  })
  job!: Reference;

  @Char({ help: 'Name of the event, such as runner_on_ok.' })
  event!: string;

  @Integer({ default: 0, help: 'Position in the run, from 1.' })
  counter!: number;

  @Char({ help: 'Display name of the event.' })
  event_display!: string;

  @Json({ schema: freeObject('Data of the event from ansible-runner.') })
  event_data!: Record<string, unknown>;

  @Integer({ default: 0, help: 'Depth of the event: playbook, play, task, host.' })
  event_level!: number;

  @Bool({ help: 'True if the event is a failure.' })
  failed!: boolean;

  @Bool({ help: 'True if a host was changed.' })
  changed!: boolean;

  @Char({ help: 'Identifier of the event, from Ansible.' })
  uuid!: string;

  @Char({ help: 'Identifier of the parent event.' })
  parent_uuid!: string;

  @Reference('host', { nullable: true, index: false, help: 'Host; null if it was deleted.' })
  host!: Reference | null;

  @Char({ max: 1024, help: 'Name of the host.' })
  host_name!: string;

  @Char({ max: 1024, help: 'Name of the playbook.' })
  playbook!: string;

  @Char({ max: 1024, help: 'Name of the play.' })
  play!: string;

  @Char({ max: 1024, help: 'Name of the task.' })
  task!: string;

  @Char({ max: 1024, help: 'Name of the role.' })
  role!: string;

  @Text({ search: true, help: 'Output of the event, with ANSI codes.' })
  stdout!: string;

  @Integer({ default: 0, help: 'First line of the output of the event.' })
  start_line!: number;

  @Integer({ default: 0, help: 'First line after the output of the event.' })
  end_line!: number;

  @Integer({ default: 0, help: 'Level of detail of the output.' })
  verbosity!: number;
}

/** Task counts of one host in a run, from the run's final statistics. */
@ReadOnly()
@Entity('job_host_summaries')
@Index('job_host_summaries_constructed_host_id_idx', ['constructed_host_id'], {
  where: '(constructed_host_id IS NOT NULL)',
})
@Index('job_host_summaries_job_host_key', ['job_id', 'host_name'], { unique: true })
export class JobHostSummary extends WideResourceEntity {
  @Reference('job', { ...WIDE, index: false, help: 'Job of the results.' })
  job!: Reference;

  @Reference('host', { nullable: true, help: 'Host; null if it was deleted.' })
  host!: Reference | null;

  /**
   * For a job on a constructed inventory, the host in that inventory; `host` is then the original
   * host.
   */
  @Reference('host', {
    nullable: true,
    index: false,
    help: 'Host of the constructed inventory that the job ran on.',
  })
  constructed_host!: Reference | null;

  @Char({ max: 1024, search: true, help: 'Name of the host.' })
  host_name!: string;

  @Integer({ default: 0, help: 'Number of tasks that changed the host.' })
  changed!: number;

  @Integer({ default: 0, help: 'Number of times the host was unreachable.' })
  dark!: number;

  @Integer({ default: 0, help: 'Number of failed tasks.' })
  failures!: number;

  @Integer({ default: 0, help: 'Number of tasks that succeeded.' })
  ok!: number;

  @Integer({ default: 0, help: 'Number of plays that the host took part in.' })
  processed!: number;

  @Integer({ default: 0, help: 'Number of skipped tasks.' })
  skipped!: number;

  @Integer({ default: 0, help: 'Number of failed tasks whose failure was ignored.' })
  ignored!: number;

  @Integer({ default: 0, help: 'Number of failed tasks that were rescued.' })
  rescued!: number;

  @Bool({ help: 'True if the job failed on the host.' })
  failed!: boolean;
}
