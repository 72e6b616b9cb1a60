import { Injectable } from '@nestjs/common';
import { Invalid, type FieldErrors } from '../../common/errors/errors.js';
import {
  Char,
  Choices,
  declareFields,
  Integer,
  Json,
  type Field,
} from '../../common/fields/field.js';
import { keysOf } from '../../common/records.js';
import { html, type Html } from '../shared/html.js';
import { PageFormOf, type PageForm } from '../shared/page-forms.service.js';
import type { Item } from '../shared/value-views.js';
import type { PageLayout } from '../../common/resource/page-layout.js';
import { SAVED_OPTIONS } from '../../prompts/prompt-columns.js';
import { Recurrence } from '../../schedules/recurrence.js';
import { isZone, localTime, zoneNames } from '../../schedules/zones.js';
import {
  NTH_CHOICES,
  readRule,
  ruleOf,
  UNITS,
  WEEKDAYS,
  describeRule,
  type Unit,
} from './rule-parts.js';

type Values = Readonly<Record<string, unknown>>;

/** Number of start times in the preview. */
const LIMIT = 5;
/** Unit that selects the text field of the rule. */
const AS_TEXT = 'text';

const TIMES = declareFields({
  every: Integer({ default: 1, min: 1, max: 9999 }),
  unit: Choices(
    [
      ['day', 'days'],
      ['week', 'weeks'],
      ['month', 'months'],
      ['year', 'years'],
      ['hour', 'hours'],
      ['minute', 'minutes'],
      ['once', 'only once'],
      [AS_TEXT, 'by the rule below'],
    ],
    { label: 'Unit', default: 'day', required: true },
  ),
  start_time: Char({ label: 'At', default: '02:00', control: 'time' }),
  zone: Char({
    label: 'Time zone',
    default: 'UTC',
    control: 'zone',
    suggestions: zoneNames,
    help: 'Type a part of the name. Schedules follow daylight saving time.',
  }),
  weekdays: Json({ label: 'On', choices: WEEKDAYS, default: [], help: 'None: any day.' }),
  start_date: Char({ label: 'First day', control: 'date', help: 'Default: today.' }),
  nth: Choices(NTH_CHOICES, { label: 'Which of these weekdays', nullable: true }),
  month_day: Integer({
    label: 'Day of the month',
    nullable: true,
    min: -31,
    max: 31,
    help: '-1: the last.',
  }),
  end_count: Integer({ label: 'Number of starts', nullable: true, min: 1, max: 999 }),
  end_date: Char({ label: 'Last day', control: 'date' }),
});

/**
 * Form that asks for the parts of a schedule and builds its rule; the rule is also accepted as
 * text.
 */
@Injectable()
@PageFormOf('schedule')
export class ScheduleForm implements PageForm {
  readonly pages: PageLayout = {
    sections: {
      'In a month': ['nth', 'month_day'],
      End: ['end_count', 'end_date'],
      'The rule as text': ['rrule'],
      Prompts: ['extra_data', ...SAVED_OPTIONS.map(({ name }) => name)],
    },
  };

  fields(fields: readonly Field[]): readonly Field[] {
    return fields.flatMap((field) =>
      field.name === 'rrule'
        ? [
            ...TIMES,
            {
              ...field,
              required: false,
              help: `Only for rules that the fields above cannot express. ${field.help}`,
            },
          ]
        : // The API refuses to move a schedule to another template.
          [{ ...field, immutable: field.immutable || field.name === 'unified_job_template' }],
    );
  }

  /** @throws Invalid naming fields of the form */
  toBody(filled: Record<string, unknown>): Record<string, unknown> {
    if (!('unit' in filled)) return filled;
    const formNames = new Set(TIMES.map(({ name }) => name));
    const rest = Object.entries(filled).filter(([name]) => !formNames.has(name));
    return { ...Object.fromEntries(rest), rrule: ruleIn(filled) };
  }

  fromObject({ rrule }: Item): Values {
    if (typeof rrule !== 'string') return {};
    const parts = readRule(rrule);
    if (!parts) return { unit: AS_TEXT, every: null, start_time: '', zone: '' };
    return {
      unit: parts.unit,
      every: parts.every,
      weekdays: parts.weekdays,
      nth: parts.nth,
      month_day: parts.monthDay,
      start_date: parts.date,
      start_time: parts.time,
      zone: parts.zone,
      end_count: parts.count,
      end_date: parts.lastDay,
      // The text is empty if the parts describe the whole rule.
      rrule: '',
    };
  }

  /** Shows errors of the rule at the start date, unless the user wrote the rule as text. */
  errorsIn({ rrule: faults, ...errors }: FieldErrors, { unit, rrule }: Values): FieldErrors {
    if (faults === undefined) return errors;
    const isWritten = unit === AS_TEXT || !isBlank(rrule);
    return { ...errors, [isWritten ? 'rrule' : 'start_date']: faults };
  }

  /** @throws Invalid naming fields of the form */
  async preview(filled: Record<string, unknown>): Promise<Html> {
    const rrule = ruleIn(filled);
    const parts = readRule(rrule);
    const starts = await Recurrence.parse(rrule).upcoming(new Date(), LIMIT);
    return html`<p>${parts ? `Starts ${describeRule(parts)}.` : 'Starts as the rule says.'}</p>
      ${starts.length === 0 && html`<p class="hint">There are no further starts.</p>`}
      <ol class="starts">
        ${starts.map(
          ({ local, utc }) =>
            html`<li>
              <time datetime="${utc}"
                >${weekdayOf(local)} ${local.slice(0, 16).replace('T', ' ')}</time
              >
              <small>${utc.slice(0, 16).replace('T', ' ')} UTC</small>
            </li>`,
        )}
      </ol>`;
  }
}

/** @throws Invalid naming fields of the form */
function ruleIn(filled: Values): string {
  assertUnused(filled);
  const text = String(filled.rrule ?? '').trim();
  if (filled.unit === AS_TEXT) {
    if (text === '') throw Invalid.field('rrule', 'Enter a rule.');
    return text;
  }
  if (text !== '') {
    throw Invalid.field('rrule', 'Choose “by the rule below” above, or clear the rule.');
  }
  const zone = String(filled.zone ?? '');
  const errors: FieldErrors = {};
  if (!isZone(zone)) errors.zone = ['Unknown time zone.'];
  if (!isTime(filled.start_time)) errors.start_time = ['Enter a time such as 02:00.'];
  for (const name of ['start_date', 'end_date']) {
    if (!isBlank(filled[name]) && !isDay(filled[name])) {
      errors[name] = ['Enter a date such as 2030-01-31.'];
    }
  }
  const numbers = numbersIn(filled, errors);
  if (!isBlank(filled.end_count) && !isBlank(filled.end_date)) {
    errors.end_count = ['Enter a number of starts or a last day, not both.'];
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors);
  return ruleOf({
    unit: unitIn(filled.unit),
    every: numbers.every ?? 1,
    weekdays: WEEKDAYS.map(([key]) => key).filter((key) => daysIn(filled.weekdays).includes(key)),
    nth: numbers.nth ?? null,
    monthDay: numbers.month_day ?? null,
    date: isBlank(filled.start_date)
      ? localTime(zone, new Date()).toISOString().slice(0, 10)
      : String(filled.start_date),
    time: String(filled.start_time),
    zone,
    count: numbers.end_count ?? null,
    lastDay: isBlank(filled.end_date) ? null : String(filled.end_date),
  });
}

/** Fields without effect by unit, with the reason. Scripts choose the zone of a new form, so it may have any value. */
const UNUSED: ReadonlyMap<unknown, { reason: string; names: readonly string[] }> = new Map([
  [
    AS_TEXT,
    {
      reason: 'The rule below decides this.',
      names: TIMES.map(({ name }) => name).filter((name) => !['unit', 'zone'].includes(name)),
    },
  ],
  [
    'once',
    {
      reason: 'This has no effect on a single start.',
      names: ['weekdays', 'nth', 'month_day', 'end_count', 'end_date'],
    },
  ],
]);

/**
 * Checks that no field was changed that has no effect beside the chosen unit.
 *
 * @throws Invalid naming fields of the form
 */
function assertUnused(filled: Values): void {
  const unused = UNUSED.get(filled.unit);
  const changed = TIMES.filter(({ name, default: initial }) => {
    const value = String(filled[name] ?? '');
    return unused?.names.includes(name) && value !== '' && value !== String(initial);
  });
  if (!unused || changed.length === 0) return;
  const fault = [`${unused.reason} Clear the field, or choose another unit above.`];
  throw new Invalid(Object.fromEntries(changed.map(({ name }) => [name, fault])));
}

/** Returns the numbers of the form by field name; adds invalid numbers to `errors`. */
function numbersIn(filled: Values, errors: FieldErrors): Record<string, number | undefined> {
  const found: Record<string, number | undefined> = {};
  for (const { name, kind, min, max } of TIMES) {
    if (kind !== 'integer' || isBlank(filled[name])) continue;
    const number = Number(filled[name]);
    const isInBounds = number >= (min ?? -Infinity) && number <= (max ?? Infinity);
    if (Number.isInteger(number) && number !== 0 && isInBounds) found[name] = number;
    else errors[name] = ['Enter a whole number in the permitted range.'];
  }
  return found;
}

const unitIn = (value: unknown): Unit => {
  const found = ([...keysOf(UNITS), 'once'] as const).find((unit) => unit === value);
  if (!found) throw Invalid.field('unit', 'Select a unit.');
  return found;
};

const daysIn = (value: unknown): unknown[] => [value ?? []].flat();
const isBlank = (value: unknown): boolean => value === undefined || value === null || value === '';
const isTime = (value: unknown): boolean =>
  typeof value === 'string' && /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(value);
const isDay = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\d$/.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString().startsWith(value);

const weekdayOf = (local: string): string =>
  WEEKDAYS[(new Date(`${local.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7]?.[1].slice(0, 3) ??
  '';
