import { Invalid } from '../common/errors/errors.js';

/** One RRULE or EXRULE of a schedule, with its parts as written. */
export interface Rule {
  kind: 'RRULE' | 'EXRULE';
  parts: ReadonlyMap<string, string>;
}

/** The parsed text of a schedule's `rrule`. */
export interface RuleText {
  /** Local start time, such as `20260101T090000`. */
  start: string;
  /** Name of the IANA time zone. */
  timezone: string;
  rules: readonly Rule[];
}

const MAX_COUNT = 999;
/** Maximum number of rules and maximum length of the text; real schedules are far below these limits. */
const MAX_RULES = 10;
const MAX_LENGTH = 5000;
/**
 * Maximum number of occurrences in one period of all rules. The search for the next occurrence
 * computes all of them.
 */
const MAX_OCCURRENCES = 1500;
/** Same maximum for texts with exceptions, because exceptions can remove many consecutive occurrences. */
const MAX_EXCEPTED = 50;
const START = /DTSTART(?:;([^:\s]*))?:(\S*)/g;
const START_VALUE = /^\d{8}T\d{6}Z?$/;
const RULE = /\b(?:RRULE|EXRULE):\S*/g;
const WEEKDAY = '(?:MO|TU|WE|TH|FR|SA|SU)';

const numbers = (pattern: string): RegExp => new RegExp(`^(?:${pattern})(?:,(?:${pattern}))*$`);

/** Pattern of the value of each rule part (RFC 5545, 3.3.10). */
const PARTS: Readonly<Record<string, RegExp>> = {
  FREQ: /^(?:YEARLY|MONTHLY|WEEKLY|DAILY|HOURLY|MINUTELY)$/,
  INTERVAL: /^[1-9]\d{0,3}$/,
  COUNT: /^[1-9]\d{0,2}$/,
  UNTIL: /^\d{8}(?:T\d{6}Z?)?$/,
  BYMONTH: numbers('0?[1-9]|1[0-2]'),
  BYMONTHDAY: numbers('-?(?:0?[1-9]|[12]\\d|3[01])'),
  BYYEARDAY: numbers('-?(?:[1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  BYWEEKNO: numbers('-?(?:0?[1-9]|[1-4]\\d|5[0-3])'),
  BYDAY: new RegExp(`^${WEEKDAY}(?:,${WEEKDAY})*$`),
  BYHOUR: numbers('0?\\d|1\\d|2[0-3]'),
  BYMINUTE: numbers('0?\\d|[1-5]\\d'),
  BYSECOND: numbers('0?\\d|[1-5]\\d'),
  BYSETPOS: numbers('-?(?:[1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  WKST: new RegExp(`^${WEEKDAY}$`),
};

/** The field `rrule` is invalid, with a contract text for each error in the rule. */
export class RuleTextError extends Invalid {
  constructor(texts: string[]) {
    super({ rrule: texts });
  }
}

/** Returns an instant in the format of rules: `20260101T090000Z`. */
export const ruleInstant = (time: Date): string => time.toISOString().replace(/[-:]|\.\d+/g, '');

/** Returns the error text for a rule that the parser rejects. */
export const parseFault = (reason: string): string => `rrule parsing failed validation: ${reason}`;

/**
 * Parses `DTSTART;TZID=Europe/Berlin:20260101T090000 RRULE:FREQ=DAILY;INTERVAL=1` and further
 * rules. RRULEs add occurrences, EXRULEs remove occurrences (docs/contract/schedules.md#rules).
 *
 * @throws RuleTextError with all errors
 */
export function readRuleText(text: string): RuleText {
  if (text.length > MAX_LENGTH) throw new RuleTextError([parseFault('the text is too long')]);
  const starts = [...text.matchAll(START)].filter(([, , value]) => /^\d+T\d+Z?$/.test(value ?? ''));
  const rules = [...text.matchAll(RULE)].map(([rule]) => rule);
  const faults = [
    ...textFaults(text, starts),
    ...rules.flatMap((rule) => ruleFaults(rule).map((fault) => `${fault}: ${rule}`)),
  ];
  // Without a valid structure, errors about details would only repeat the errors about the structure.
  const [start] = starts;
  if (start && faults.length === 0) {
    faults.push(...detailFaults(text, start, rules).map(parseFault));
  }
  if (!start || faults.length > 0) throw new RuleTextError(faults);
  const [, parameter = '', value = ''] = start;
  return {
    start: value.replace(/Z$/, ''),
    timezone: value.endsWith('Z') ? 'UTC' : zoneOf(parameter),
    rules: rules.map((rule) => ({
      kind: rule.startsWith('EX') ? 'EXRULE' : 'RRULE',
      parts: new Map(partsOf(rule)),
    })),
  };
}

function textFaults(text: string, starts: readonly RegExpMatchArray[]): string[] {
  const isNaive = starts.some(([, parameter, value = '']) => !parameter && !value.endsWith('Z'));
  const checks: [isFault: boolean, text: string][] = [
    [
      starts.length === 0,
      'Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ',
    ],
    [isNaive, 'DTSTART cannot be a naive datetime.  Specify ;TZINFO= or YYYYMMDDTHHMMSSZZ.'],
    [starts.length > 1, 'Multiple DTSTART is not supported.'],
    [!/\bRRULE:/i.test(text), 'One or more rule required in rrule.'],
    [/\bEXDATE[;:]/i.test(text), 'EXDATE not allowed in rrule.'],
    [/\bRDATE[;:]/i.test(text), 'RDATE not allowed in rrule.'],
  ];
  return checks.filter(([isFault]) => isFault).map(([, fault]) => fault);
}

function ruleFaults(rule: string): string[] {
  const count = /\bCOUNT=(\d+)/.exec(rule);
  const checks: [isFault: boolean, text: string][] = [
    [!/\bINTERVAL\b/i.test(rule), 'INTERVAL required in rrule'],
    [/\bSECONDLY\b/i.test(rule), 'SECONDLY is not supported'],
    [/\bBYDAY=[^;]*\d[A-Z]{2}/i.test(rule), 'BYDAY with numeric prefix not supported'],
    [
      /\bCOUNT\b/.test(rule) && /\bUNTIL\b/.test(rule),
      'RRULE may not contain both COUNT and UNTIL',
    ],
    [count !== null && Number(count[1]) > MAX_COUNT, `COUNT > ${MAX_COUNT} is unsupported`],
  ];
  return checks.filter(([isFault]) => isFault).map(([, fault]) => fault);
}

function detailFaults(text: string, start: RegExpMatchArray, rules: readonly string[]): string[] {
  const [, parameter = '', value = ''] = start;
  const rest = text.replaceAll(START, '').replaceAll(RULE, '').trim();
  return [
    ...(rest === '' ? [] : [`unsupported property: ${rest.replace(/\s.*/s, '').slice(0, 100)}`]),
    ...(START_VALUE.test(value) ? [] : [`invalid DTSTART: ${value}`]),
    ...(value.endsWith('Z') || zoneOf(parameter) !== '' ? [] : [`invalid DTSTART: ${parameter}`]),
    ...(value < '19000101' ? ['DTSTART is too long ago'] : []),
    ...rules.flatMap(partFaults),
    ...(exceedsLimits(rules) ? ['too many occurrences, or rules'] : []),
  ];
}

function exceedsLimits(rules: readonly string[]): boolean {
  const isExcepted = rules.some((rule) => rule.startsWith('EX'));
  const counts = rules.map((rule) => occurrencesOf(new Map(partsOf(rule))));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return rules.length > MAX_RULES || total > (isExcepted ? MAX_EXCEPTED : MAX_OCCURRENCES);
}

/** Returns the maximum number of occurrences in a period of the rule's frequency. */
export function occurrencesOf(parts: ReadonlyMap<string, string>): number {
  const listed = (name: string): number | undefined => parts.get(name)?.split(',').length;
  const times = (listed('BYHOUR') ?? 1) * (listed('BYMINUTE') ?? 1) * (listed('BYSECOND') ?? 1);
  return times * daysOf(parts.get('FREQ') ?? '', listed);
}

function daysOf(frequency: string, listed: (name: string) => number | undefined): number {
  const weekdays = listed('BYDAY');
  if (frequency === 'WEEKLY') return weekdays ?? 1;
  if (frequency !== 'YEARLY' && frequency !== 'MONTHLY') return 1;
  const months = frequency === 'MONTHLY' ? 1 : (listed('BYMONTH') ?? 12);
  const limits = [
    (listed('BYMONTHDAY') ?? Infinity) * months,
    (weekdays ?? Infinity) * months * 5,
    listed('BYYEARDAY') ?? Infinity,
    (listed('BYWEEKNO') ?? Infinity) * 7,
  ];
  const days = Math.min(...limits);
  return Number.isFinite(days) ? days : months;
}

/** Pairs of parts of which the library ignores one in yearly, monthly or weekly rules. */
const COMBINED = [
  ['BYYEARDAY', 'BYDAY'],
  ['BYYEARDAY', 'BYMONTHDAY'],
  ['BYYEARDAY', 'BYWEEKNO'],
  ['BYWEEKNO', 'BYMONTHDAY'],
] as const;

/** Returns true for a rule of whose days the library would ignore some parts. */
export const combinesDays = (parts: ReadonlyMap<string, string>): boolean =>
  ['YEARLY', 'MONTHLY', 'WEEKLY'].includes(parts.get('FREQ') ?? '') &&
  COMBINED.some((names) => names.every((name) => parts.has(name)));

function combinationFaults(parts: ReadonlyMap<string, string>): string[] {
  if (!combinesDays(parts)) return [];
  const isSupported = parts.get('INTERVAL') === '1' && !parts.has('BYSETPOS');
  return isSupported
    ? []
    : ['BYYEARDAY or BYWEEKNO with other days needs INTERVAL=1 and no BYSETPOS'];
}

function partFaults(rule: string): string[] {
  const parts = partsOf(rule);
  const names = parts.map(([name]) => name);
  return [
    ...(names.includes('FREQ') ? [] : ['FREQ is missing']),
    ...(/FREQ=YEARLY/.test(rule) && /INTERVAL=\d{4}/.test(rule) ? ['INTERVAL is too large'] : []),
    ...names
      .filter((name, index) => names.indexOf(name) < index)
      .map((name) => `${name} occurs twice`),
    ...combinationFaults(new Map(parts)),
    ...parts.flatMap(([name, value]) => {
      const pattern = PARTS[name];
      if (!pattern) return [`unknown parameter ${name}`];
      return pattern.test(value) ? [] : [`invalid ${name}: ${value}`];
    }),
  ];
}

const partsOf = (rule: string): [name: string, value: string][] =>
  rule
    .slice(rule.indexOf(':') + 1)
    .split(';')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', value = ''] = part.split('=', 2);
      return [name, value];
    });

const zoneOf = (parameter: string): string => /^TZID=(\S+)$/.exec(parameter)?.[1] ?? '';
