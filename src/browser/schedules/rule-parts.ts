import { isDeepStrictEqual } from 'node:util';
import { keysOf } from '../../common/records.js';
import {
  readRuleText,
  RuleTextError,
  ruleInstant,
  type RuleText,
} from '../../schedules/rule-text.js';
import { zonedInstantOf, localTime } from '../../schedules/zones.js';

export const WEEKDAYS = [
  ['MO', 'Monday'],
  ['TU', 'Tuesday'],
  ['WE', 'Wednesday'],
  ['TH', 'Thursday'],
  ['FR', 'Friday'],
  ['SA', 'Saturday'],
  ['SU', 'Sunday'],
] as const;

/** Frequencies of a rule by the name of their period. */
export const UNITS = {
  minute: 'MINUTELY',
  hour: 'HOURLY',
  day: 'DAILY',
  week: 'WEEKLY',
  month: 'MONTHLY',
  year: 'YEARLY',
} as const;
export type Unit = keyof typeof UNITS | 'once';

/** The parts of a rule with one frequency and without exceptions. */
export interface RuleParts {
  unit: Unit;
  /** Interval, in units. */
  every: number;
  /** Weekdays such as `MO`; if empty, every day or the weekday of the start. */
  weekdays: readonly string[];
  /** Position among these weekdays of a month, counted from its end if negative; null for all. */
  nth: number | null;
  /** Day of the month, counted from its end if negative; null for the day of the start. */
  monthDay: number | null;
  /** Date of the start in `zone`: `2026-01-31`. */
  date: string;
  /** Time of the start in `zone`: `02:00`. */
  time: string;
  zone: string;
  /** Maximum number of starts; null if unlimited. */
  count: number | null;
  /** Last day; null if the rule has no last day. */
  lastDay: string | null;
}

/** Returns the text of the rule in the format of the API. */
export function ruleOf(parts: RuleParts): string {
  const { unit, every, weekdays, nth, monthDay, date, time, zone, count, lastDay } = parts;
  const start = `${date.replaceAll('-', '')}T${time.replace(':', '')}00`;
  const rule: readonly (readonly [string, string | number | null])[] =
    unit === 'once'
      ? [
          ['FREQ', UNITS.day],
          ['INTERVAL', 1],
          ['COUNT', 1],
        ]
      : [
          ['FREQ', UNITS[unit]],
          ['INTERVAL', every],
          ['BYDAY', weekdays.length > 0 ? weekdays.join(',') : null],
          ['BYMONTHDAY', monthDay],
          ['BYSETPOS', nth],
          ['COUNT', count],
          ['UNTIL', lastDay && ruleInstant(zonedInstantOf(zone, new Date(`${lastDay}T23:59:59Z`)))],
        ];
  const written = rule.flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]));
  const dtstart = zone === 'UTC' ? `DTSTART:${start}Z` : `DTSTART;TZID=${zone}:${start}`;
  return `${dtstart} RRULE:${written.join(';')}`;
}

/** Returns the parts of a rule, or null if the parts cannot represent the whole rule. */
export function readRule(rrule: string): RuleParts | null {
  try {
    const text = readRuleText(rrule);
    const parts = readParts(text);
    return parts && isDeepStrictEqual(readRuleText(ruleOf(parts)), sorted(text)) ? parts : null;
  } catch (error) {
    // The time zone of a stored rule may be unknown to this machine.
    if (error instanceof RuleTextError || error instanceof RangeError) return null;
    throw error;
  }
}

/** Order of the parts in the text that `ruleOf` writes; the API accepts any order. */
const ORDER = ['FREQ', 'INTERVAL', 'BYDAY', 'BYMONTHDAY', 'BYSETPOS', 'COUNT', 'UNTIL'];

const sorted = (text: RuleText): RuleText => ({
  ...text,
  rules: text.rules.map(({ kind, parts }) => ({
    kind,
    parts: new Map([...parts].sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b))),
  })),
});

function readParts({ start, timezone: zone, rules }: RuleText): RuleParts | null {
  const [rule, ...others] = rules;
  if (!rule || others.length > 0) return null;
  const { parts } = rule;
  const unit = keysOf(UNITS).find((name) => UNITS[name] === parts.get('FREQ'));
  const found = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/.exec(start);
  if (!unit || !found) return null;
  const [, year, month, day, hour, minute] = found;
  const until = parts.get('UNTIL');
  const isOnce = parts.get('COUNT') === '1' && parts.size === 3 && unit === 'day';
  return {
    unit: isOnce ? 'once' : unit,
    every: numberIn(parts, 'INTERVAL') ?? 1,
    weekdays: parts.get('BYDAY')?.split(',') ?? [],
    nth: numberIn(parts, 'BYSETPOS'),
    monthDay: numberIn(parts, 'BYMONTHDAY'),
    date: `${year}-${month}-${day}`,
    time: `${hour}:${minute}`,
    zone,
    count: isOnce ? null : numberIn(parts, 'COUNT'),
    lastDay: until === undefined ? null : dayIn(until, zone),
  };
}

/**
 * Returns the number of a part; null if the rule does not have the part. Reads only the first number of a
 * list; `readRule` then returns null, because the rebuilt rule differs.
 */
const numberIn = (parts: ReadonlyMap<string, string>, name: string): number | null =>
  parts.has(name) ? Number.parseInt(parts.get(name) ?? '', 10) : null;

function dayIn(until: string, zone: string): string | null {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(until) ?? [];
  if (year === undefined) return null;
  const instant = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(instant.getTime())) return null;
  return localTime(zone, instant).toISOString().slice(0, 10);
}

const NTH = new Map([
  [1, 'first'],
  [2, 'second'],
  [3, 'third'],
  [4, 'fourth'],
  [-1, 'last'],
]);
export const NTH_CHOICES = [...NTH].map(([nth, name]) => [nth, `The ${name} in a month`] as const);

/** Describes a rule in words: `every 2 weeks on Monday at 02:00, Europe/Berlin`. */
export function describeRule(parts: RuleParts): string {
  const { unit, every, time, zone, date, count, lastDay } = parts;
  if (unit === 'once') return `once, on ${date} at ${time}, ${zone}`;
  const period = every === 1 ? `every ${unit}` : `every ${every} ${unit}s`;
  const isShort = unit === 'minute' || unit === 'hour';
  return [
    `${period}${daysText(parts)}${isShort ? ` from ${time} on` : ` at ${time}`}`,
    zone,
    ...(count === null ? [] : [`${count} times`]),
    ...(lastDay === null ? [] : [`until ${lastDay}`]),
  ].join(', ');
}

function daysText({ weekdays, nth, monthDay }: RuleParts): string {
  const names = WEEKDAYS.filter(([key]) => weekdays.includes(key)).map(([, name]) => name);
  const which = nth === null ? '' : `the ${NTH.get(nth) ?? `${nth}.`} `;
  const days = names.length > 0 ? ` on ${which}${names.join(', ')}` : '';
  if (monthDay === null) return days;
  return `${days} on ${monthDay === -1 ? 'the last day' : `day ${monthDay}`}`;
}
