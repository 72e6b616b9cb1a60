import {
  Bool,
  Char,
  Choices,
  DateTime,
  Integer,
  Json,
  Reference,
  Text,
} from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { NamedSchema } from '../common/resource/schemas.js';
import { JOB_TYPES, VERBOSITIES } from '../prompts/job-options.js';

/** A launch field that the schedule sets; null: it does not. */
const PROMPT = { nullable: true } as const;
const COMPUTED = { readOnly: true, column: null, filter: false } as const;

/** Launches of a template at set times (docs/contract/schedules.md). */
export class ScheduleSchema extends NamedSchema {
  @Text({
    required: true,
    blank: false,
    help: 'When: `DTSTART;TZID=Europe/Berlin:20260101T090000 RRULE:FREQ=DAILY;INTERVAL=1`.',
  })
  rrule!: string;

  @Bool({ default: true, help: 'Whether the schedule launches anything.' })
  enabled!: boolean;

  @Reference(() => resource('unified_job_template'), {
    required: true,
    needs: 'launch',
    index: false,
    help: 'What is launched; fixed on creation.',
  })
  unified_job_template!: number;

  @Json({ anyShape: true, help: 'Variables of the launch; secret answers masked.' })
  extra_data!: Record<string, unknown>;

  @Reference(() => resource('inventory'), { ...PROMPT, needs: 'use' })
  inventory!: number | null;

  @Char({ ...PROMPT, max: 1024 })
  scm_branch!: string | null;

  @Choices(JOB_TYPES, PROMPT)
  job_type!: string | null;

  @Text(PROMPT)
  job_tags!: string | null;

  @Char({ ...PROMPT, max: 1024 })
  skip_tags!: string | null;

  @Text(PROMPT)
  limit!: string | null;

  @Bool(PROMPT)
  diff_mode!: boolean | null;

  @Choices(VERBOSITIES, PROMPT)
  verbosity!: number | null;

  @Integer({ ...PROMPT, min: 0 })
  forks!: number | null;

  @Integer({ ...PROMPT, min: 0 })
  job_slice_count!: number | null;

  @Integer({ ...PROMPT, min: -1 })
  timeout!: number | null;

  @DateTime({ readOnly: true, help: 'First launch.' })
  dtstart!: string | null;

  @DateTime({ readOnly: true, help: 'Last launch; null when there is none.' })
  dtend!: string | null;

  @DateTime({ readOnly: true, help: 'Next launch; null when there is none or it is disabled.' })
  next_run!: string | null;

  @Char({ ...COMPUTED, help: 'Time zone of the rule.' })
  timezone!: string;

  @Char({ ...COMPUTED, help: 'End of the rule as clocks of its time zone show it.' })
  until!: string;

  @DateTime({ readOnly: true, help: 'Occurrence that was launched or skipped last.' })
  last_run!: string | null;

  @Text({ readOnly: true, help: 'Why the last occurrence launched nothing; empty when it did.' })
  last_run_explanation!: string;

  /** Secret answers of a survey by variable, each sealed. */
  @Json({ internal: true })
  survey_passwords!: Record<string, string>;
}
