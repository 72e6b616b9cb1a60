import { Entity, Index } from 'typeorm';
import { WIDE } from '../../common/fields/column-types.js';
import { Bool, Char, DateTime, Integer, Json, Reference, Text } from '../../common/fields/field.js';
import * as json from '../../common/fields/json-schema.js';
import { ReadOnly } from '../../common/fields/read-only.decorator.js';

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

  @Json({ schema: json.freeObject('Data of the event from ansible-runner.') })
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
