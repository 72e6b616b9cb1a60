import { Entity, Index } from 'typeorm';
import { Bool, Char, DateTime, Includes, Json, Reference, Text } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import type { SavedOptions } from '../prompts/launch-options.js';
import { SAVED_OPTIONS } from '../prompts/prompt-columns.js';
import { LinkRow, LinkTo } from '../database/table.js';

const COMPUTED = { readOnly: true, column: null, filter: false } as const;

export interface Schedule extends SavedOptions {}

/** Scheduled launches of a template (docs/contract/schedules.md). */
@Entity('schedules')
@Index('schedules_due_idx', ['next_run'], { where: 'enabled' })
@Index('schedules_template_name_key', ['unified_job_template_id', 'name'], { unique: true })
@Index('schedules_name_order_idx', ['name', 'id'])
@Includes(SAVED_OPTIONS, 'extra_data')
export class Schedule extends NamedEntity {
  @Text({
    required: true,
    blank: false,
    help: 'Rule of times: `DTSTART;TZID=Europe/Berlin:20260101T090000 RRULE:FREQ=DAILY;INTERVAL=1`.',
  })
  rrule!: string;

  @Bool({ default: true, help: 'True if the schedule launches runs.' })
  enabled!: boolean;

  @Reference('unified_job_template', {
    label: 'Template',
    required: true,
    needs: 'launch',
    index: false,
    help: 'Template or other object that is launched; fixed on creation.',
  })
  unified_job_template!: Reference;

  @Json({ anyShape: true, help: 'Variables of the launch; secret answers masked.' })
  extra_data!: Record<string, unknown>;

  @DateTime({ readOnly: true, help: 'First launch.' })
  dtstart!: string | null;

  @DateTime({ readOnly: true, help: 'Time of the last launch, or null.' })
  dtend!: string | null;

  @DateTime({ readOnly: true, help: 'Next launch; null if none is due or it is disabled.' })
  next_run!: string | null;

  @Char({ ...COMPUTED, help: 'Time zone of the rule.' })
  timezone!: string;

  @Char({ ...COMPUTED, help: 'End of the rule, as local time in its time zone.' })
  until!: string;

  @DateTime({ readOnly: true, help: 'Occurrence that was launched or skipped last.' })
  last_run!: string | null;

  @Text({ readOnly: true, help: 'Reason why the last occurrence launched no run, or empty.' })
  last_run_explanation!: string;

  /** Secret answers of a survey by variable, each sealed separately. */
  @Json({ internal: true })
  survey_passwords!: Record<string, string>;
}

/** Credential of the jobs that a schedule launches. */
@Entity('schedule_credentials')
@Index('schedule_credentials_key', ['schedule_id', 'credential_id'], { unique: true })
export class ScheduleCredential extends LinkRow {
  @LinkTo('schedules')
  schedule_id!: number;

  @LinkTo('credentials', { index: true })
  credential_id!: number;
}

/** Label of the jobs that a schedule launches. */
@Entity('schedule_labels')
@Index('schedule_labels_key', ['schedule_id', 'label_id'], { unique: true })
export class ScheduleLabel extends LinkRow {
  @LinkTo('schedules')
  schedule_id!: number;

  @LinkTo('labels', { index: true })
  label_id!: number;
}

/** Instance group of a schedule; the order of ids is that of preference. */
@Entity('schedule_instance_groups')
@Index('schedule_instance_groups_key', ['schedule_id', 'instance_group_id'], { unique: true })
export class ScheduleInstanceGroup extends LinkRow {
  @LinkTo('schedules')
  schedule_id!: number;

  @LinkTo('instance_groups', { index: true })
  instance_group_id!: number;
}
