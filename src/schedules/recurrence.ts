import { RRuleTemporal } from 'rrule-temporal';
import { existing, itemAt, zip } from '../common/invariants.js';
import { Yielder } from '../common/yielder.js';
import {
  combinesDays,
  occurrencesOf,
  parseFault,
  readRuleText,
  ruleInstant,
  RuleTextError,
  type Rule,
  type RuleText,
} from './rule-text.js';
import { type Occurrence, RuleWalk } from './rule-walk.js';
import { zonedInstantOf, localTime } from './zones.js';
import { messageOf, resultOr } from '../common/errors/errors.js';

/**
 * Maximum number of consecutive periods (years of a yearly rule, ...) without a match, after which
 * the rule counts as ended.
 */
const MAX_PERIODS = 1000;
/**
 * Maximum number of days and times that all rules of a schedule together compute without a match.
 */
const MAX_CANDIDATES = 1000;
/** Minimum number of searched periods by frequency: enough to include a leap day. */
const MIN_PERIODS = new Map([
  ['YEARLY', 10],
  ['MONTHLY', 120],
]);
/**
 * Same minimum for rules with `BYSETPOS`. The library counts the period of the previous occurrence and an
 * incomplete one, so fewer periods would end a rule with an occurrence in every period.
 */
const MIN_POSITIONED_PERIODS = 3;
/** Maximum number of days until a day of the year is on the same weekday again: twelve years. */
const MAX_YEAR_DAYS = 4500;
/**
 * Maximum number of periods in a backward search. A week has fewer minutes, so that a rule with a
 * weekday and minutes is found.
 */
const MAX_PERIODS_BACK = 12_000;
/**
 * Maximum number of years between the start and the last occurrence. The library reads all clock changes
 * of these years, and dates end in the year 275760.
 */
const MAX_YEARS = 400;
const PERIODS_PER_YEAR = new Map([
  ['YEARLY', 1],
  ['MONTHLY', 12],
  ['WEEKLY', 53],
  ['DAILY', 366],
  ['HOURLY', 366 * 24],
  ['MINUTELY', 366 * 24 * 60],
]);
/** Factor of the number of candidates of a rule with `COUNT`. */
const COUNTED_FACTOR = 25;
const HOURS = 24;
/** Maximum number of times of a day for which an hourly rule is searched as a daily one. */
const MAX_TIMES = 48;
/** Maximum number of consecutive occurrences that exceptions can remove. */
const MAX_EXCEPTIONS = 400;
/**
 * Same maximum for rules with occurrences every hour or minute, whose search is cheap: more than the
 * minutes of a weekend.
 */
const MAX_FREQUENT_EXCEPTIONS = 3000;
const FREQUENT = ['HOURLY', 'MINUTELY'];

/** An occurrence in the form for clients. */
export interface ShownOccurrence {
  /** Local time with the offset of the schedule's time zone. */
  local: string;
  /** UTC time with `Z`. */
  utc: string;
}

/**
 * The recurrence of a schedule: the occurrences of its RRULEs without the occurrences of its EXRULEs.
 * Times are local to the schedule's time zone, so clock changes do not change the time of day. A local
 * time that a clock change skips does not occur. A local time that a clock change repeats occurs once,
 * at the first time (RFC 5545, 3.3.10).
 */
export class Recurrence {
  private constructor(
    private readonly text: RuleText,
    private readonly rules: readonly RRuleTemporal[],
    private readonly exceptions: readonly RRuleTemporal[],
  ) {}

  /** @throws RuleTextError with all errors, as contract texts */
  static parse(rrule: string): Recurrence {
    const text = readRuleText(rrule);
    try {
      return new Recurrence(text, build(text, 'RRULE'), build(text, 'EXRULE'));
    } catch (error) {
      throw new RuleTextError([parseFault(messageOf(error))]);
    }
  }

  /**
   * Parses a stored rule. Returns null for a rule that cannot be evaluated, for example because
   * this machine does not know its time zone. An invalid rule must not affect other schedules.
   */
  static parseStored(rrule: string): Recurrence | null {
    return resultOr(() => Recurrence.parse(rrule), null, RuleTextError);
  }

  /** Name of the IANA time zone. */
  get timezone(): string {
    return this.text.timezone;
  }

  /**
   * Local end time in the schedule's time zone if all rules end at the same time; otherwise empty.
   */
  get until(): string {
    const ends = this.recurrenceRules().map(({ parts }) => parts.get('UNTIL'));
    const [end] = ends;
    if (end === undefined || ends.some((other) => other !== end)) return '';
    return localTime(this.timezone, untilOf(end, this.timezone)).toISOString().slice(0, 19);
  }

  first(): Promise<Date | null> {
    return this.after(new Date(0), true);
  }

  /** Returns the last occurrence; null if a rule never ends, or if there is no occurrence. */
  async last(): Promise<Date | null> {
    const hasEnd = ({ parts }: Rule): boolean => parts.has('COUNT') || parts.has('UNTIL');
    return this.recurrenceRules().every(hasEnd) ? this.before(new Date(8.64e15)) : null;
  }

  /** Returns the first occurrence after an instant, or at the instant if `inclusive`. */
  async after(instant: Date, inclusive = false): Promise<Date | null> {
    return dateOf(await find(this.forward(), instant, inclusive));
  }

  /**
   * Returns the newest occurrence up to `instant`. Returns the earlier occurrence `known` if the search
   * finds no newer occurrence.
   */
  async newest(known: Date, instant: Date): Promise<Date> {
    const following = await this.after(known);
    if (following === null || following > instant) return known;
    const found = await this.before(instant);
    return found !== null && found > known ? found : known;
  }

  async upcoming(after: Date, count: number): Promise<ShownOccurrence[]> {
    const found: ShownOccurrence[] = [];
    const search = this.forward();
    let occurrence = await find(search, after, false);
    while (occurrence !== null && found.length < count) {
      const local = `${occurrence.toPlainDateTime().toString()}${occurrence.offset}`;
      found.push({ local, utc: occurrence.toInstant().toString() });
      occurrence = await find(search, dateOf(occurrence), false);
    }
    return found;
  }

  private recurrenceRules(): Rule[] {
    return this.text.rules.filter(({ kind }) => kind === 'RRULE');
  }

  private get maxExceptions(): number {
    const isFrequent = this.recurrenceRules().some(({ parts }) =>
      FREQUENT.includes(parts.get('FREQ') ?? ''),
    );
    return isFrequent ? MAX_FREQUENT_EXCEPTIONS : MAX_EXCEPTIONS;
  }

  private forward(): Search {
    return {
      rules: this.rules.map((rule) => new RuleWalk(rule, 'next')),
      exceptions: this.exceptions.map((rule) => new RuleWalk(rule, 'next')),
      maxExceptions: this.maxExceptions,
      yielder: new Yielder(),
    };
  }

  private async before(instant: Date): Promise<Date | null> {
    const yielder = new Yielder();
    const rules: RuleWalk[] = [];
    for (const [rule, backwardRule] of zip(
      this.rules,
      build(this.text, 'RRULE', MAX_PERIODS_BACK),
    )) {
      // Skips rules without occurrences, which every search would compute up to its limit.
      const occurs = new RuleWalk(rule, 'next').from(new Date(0), true) !== null;
      if (occurs) rules.push(new RuleWalk(backwardRule, 'previous'));
      await yielder.yieldIfDue();
    }
    const exceptions = this.exceptions.map((rule) => new RuleWalk(rule, 'previous'));
    const { maxExceptions } = this;
    return dateOf(await find({ rules, exceptions, maxExceptions, yielder }, instant, true));
  }
}

/** State of one search; all rules are searched in the same direction. */
interface Search {
  rules: readonly RuleWalk[];
  exceptions: readonly RuleWalk[];
  maxExceptions: number;
  yielder: Yielder;
}

/**
 * Returns the nearest occurrence that no exception removes; null if there is none, or if exceptions remove
 * too many. Yields to the event loop after each rule.
 */
async function find(
  { rules, exceptions, maxExceptions, yielder }: Search,
  instant: Date,
  inclusive: boolean,
): Promise<Occurrence | null> {
  let from = instant;
  let isIncluded = inclusive;
  for (let tries = 0; tries < maxExceptions; tries++) {
    const found: (Occurrence | null)[] = [];
    for (const rule of rules) {
      found.push(rule.from(from, isIncluded));
      await yielder.yieldIfDue();
    }
    const nearest = nearestOf(found, from);
    if (nearest === null) return null;
    const time = dateOf(nearest);
    if (!(await isExcepted(time, exceptions, yielder))) return nearest;
    from = time;
    isIncluded = false;
  }
  return null;
}

async function isExcepted(
  time: Date,
  exceptions: readonly RuleWalk[],
  yielder: Yielder,
): Promise<boolean> {
  for (const rule of exceptions) {
    if (dateOf(rule.from(time, true))?.getTime() === time.getTime()) return true;
    await yielder.yieldIfDue();
  }
  return false;
}

function dateOf(occurrence: Occurrence): Date;
function dateOf(occurrence: Occurrence | null): Date | null;
function dateOf(occurrence: Occurrence | null): Date | null {
  return occurrence === null ? null : new Date(occurrence.epochMilliseconds);
}

function nearestOf(found: readonly (Occurrence | null)[], instant: Date): Occurrence | null {
  const distance = (occurrence: Occurrence): number =>
    Math.abs(occurrence.epochMilliseconds - instant.getTime());
  return found.reduce(
    (best, occurrence) =>
      occurrence !== null && (best === null || distance(occurrence) < distance(best))
        ? occurrence
        : best,
    null,
  );
}

function build(text: RuleText, kind: Rule['kind'], maxIterations = MAX_PERIODS): RRuleTemporal[] {
  const skipped = skippedStart(text);
  const share = MAX_CANDIDATES / text.rules.length;
  return text.rules
    .filter((rule) => rule.kind === kind)
    .map((rule) => {
      const days = withWeekday(text.start, dayByDay(rule.parts));
      const parts = asDaily(text.start, withTimeOf(skipped, days));
      const maxCount = periodsInMaxYears(parts) * occurrencesOf(parts);
      const written = [...parts].map(([name, value]) => {
        if (name === 'UNTIL') return `UNTIL=${ruleInstant(untilOf(value, text.timezone))}`;
        return `${name}=${name === 'COUNT' ? Math.min(Number(value), maxCount) : value}`;
      });
      const start = `DTSTART;TZID=${text.timezone}:${text.start}`;
      const rruleString = `${start}\nRRULE:${written.join(';')}`;
      return new RRuleTemporal({
        rruleString,
        maxIterations: periodsOf(parts, maxIterations, share),
      });
    });
}

/**
 * Returns the maximum number of periods to search. The library computes all days of a year or a month to
 * find an occurrence. With `BYSETPOS` it also computes all times of these days, even in periods without a
 * match, so the minimum of the frequency does not apply. The library counts the periods of a rule with
 * `COUNT` from its start, not from the last match, so these rules need more periods.
 */
function periodsOf(parts: Rule['parts'], max: number, candidates: number): number {
  const isCounted = parts.has('COUNT');
  const inMaxYears = periodsInMaxYears(parts);
  const minimum = parts.has('BYSETPOS')
    ? MIN_POSITIONED_PERIODS
    : MIN_PERIODS.get(parts.get('FREQ') ?? '');
  const isSparse =
    parts.get('FREQ') === 'DAILY' && (parts.has('BYYEARDAY') || parts.has('BYWEEKNO'));
  const others = isSparse ? Math.max(max, MAX_YEAR_DAYS) : max;
  if (minimum === undefined) return Math.min(inMaxYears, isCounted ? MAX_PERIODS_BACK : others);
  const factor = isCounted ? COUNTED_FACTOR : 1;
  const affordable = Math.floor((candidates * factor) / occurrencesOf(parts));
  return Math.min(MAX_PERIODS, inMaxYears, Math.max(minimum, affordable));
}

const periodsInMaxYears = (parts: Rule['parts']): number =>
  Math.ceil(
    (MAX_YEARS * (PERIODS_PER_YEAR.get(parts.get('FREQ') ?? '') ?? 1)) /
      Number(parts.get('INTERVAL')),
  );

/** Returns the local start time if a clock change skips it; otherwise null. */
function skippedStart({ start, timezone }: RuleText): Date | null {
  const [, year, month, day, hour, minute, second] = existing(
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(start),
    'the text of a rule was read before its parts',
  );
  const local = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(local.getTime())) return null;
  return localTime(timezone, zonedInstantOf(timezone, local)).getTime() === local.getTime()
    ? null
    : local;
}

/**
 * Returns the parts with the time of a skipped start: the library moves such a start, but later
 * days must keep the original time.
 */
function withTimeOf(start: Date | null, parts: Rule['parts']): ReadonlyMap<string, string> {
  const frequency = parts.get('FREQ');
  if (start === null || frequency === 'MINUTELY') return parts;
  const hour = frequency === 'HOURLY' ? [] : [['BYHOUR', String(start.getUTCHours())] as const];
  return new Map([...hour, ['BYMINUTE', String(start.getUTCMinutes())], ...parts]);
}

/** Returns a rule that combines days of different kinds as a daily rule; others unchanged. */
const dayByDay = (parts: Rule['parts']): Rule['parts'] =>
  combinesDays(parts) ? new Map([...parts, ['FREQ', 'DAILY']]) : parts;

/**
 * Returns a yearly rule of weeks without days with the weekday of the start (RFC 5545, 3.3.10); others unchanged. The
 * library takes other days in later years.
 */
function withWeekday(start: string, parts: Rule['parts']): Rule['parts'] {
  const lacksDay = parts.get('FREQ') === 'YEARLY' && parts.has('BYWEEKNO') && !parts.has('BYDAY');
  if (!lacksDay) return parts;
  const day = new Date(start.replace(/^(\d{4})(\d\d)(\d\d).*/, '$1-$2-$3')).getUTCDay();
  return new Map([...parts, ['BYDAY', itemAt(['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'], day)]]);
}

/**
 * Returns an hourly rule that has the same hours on each of its days as a daily rule; other rules
 * unchanged. The library adds elapsed hours, so a clock change would move all later occurrences to other
 * hours.
 */
function asDaily(start: string, parts: Rule['parts']): Rule['parts'] {
  const interval = Number(parts.get('INTERVAL'));
  const isHourly = parts.get('FREQ') === 'HOURLY' && !parts.has('BYSETPOS');
  if (!isHourly || (HOURS % interval > 0 && interval % HOURS > 0)) return parts;
  const first = Number(start.slice(9, 11)) % interval;
  const count = Math.max(1, HOURS / interval);
  const listed = parts.get('BYHOUR')?.split(',').map(Number);
  const hours = Array.from({ length: count }, (_, index) => first + index * interval).filter(
    (hour) => listed?.includes(hour) ?? true,
  );
  const days = String(Math.max(1, interval / HOURS));
  const daily = new Map([
    ...parts,
    ['FREQ', 'DAILY'],
    ['INTERVAL', days],
    ['BYHOUR', hours.join()],
  ]);
  return hours.length > 0 && occurrencesOf(daily) <= MAX_TIMES ? daily : parts;
}

/**
 * Returns the end of a rule, inclusive. Without `Z` the end is local, and a date alone means its
 * last second.
 */
function untilOf(value: string, timezone: string): Date {
  const [, year, month, day, hour = '23', minute = '59', second = '59'] = existing(
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d))?/.exec(value),
    'the text of a rule was read before its parts',
  );
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const local = new Date(text);
  if (Number.isNaN(local.getTime())) throw new Error(`invalid UNTIL: ${value}`);
  return value.endsWith('Z') ? local : zonedInstantOf(timezone, local);
}
