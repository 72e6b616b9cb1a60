import { RRuleTemporal } from 'rrule-temporal';
import { existing, zip } from '../common/invariants.js';
import { Turns } from '../common/turns.js';
import {
  occurrencesOf,
  parseFault,
  readRuleText,
  ruleInstant,
  RuleTextError,
  type Rule,
  type RuleText,
} from './rule-text.js';
import { type Occurrence, RuleWalk } from './rule-walk.js';
import { instantOf, localTime } from './zones.js';
import { messageOf } from '../common/errors/message-of.js';

/** Periods without a match (years of a yearly rule, ...) after which a rule counts as ended. */
const MAX_PERIODS = 1000;
/** Days and times that all rules may work out in vain, each of them once between two turns for others. */
const MAX_CANDIDATES = 1000;
/** Periods that are looked at whatever they could hold: enough to come by a leap day. */
const MIN_PERIODS = new Map([
  ['YEARLY', 10],
  ['MONTHLY', 120],
]);
/** Periods that are looked back: more minutes than a week has, so that a weekday is found. */
const MAX_PERIODS_BACK = 12_000;
/** Occurrences that exceptions may take out one after the other. */
const MAX_EXCEPTIONS = 400;

/** An occurrence as clients are shown it. */
export interface ShownOccurrence {
  /** With the offset of the schedule's zone. */
  local: string;
  /** With `Z`. */
  utc: string;
}

/**
 * When a schedule runs: the occurrences of its RRULEs without those of its EXRULEs. Times are those of
 * the schedule's zone, so that nine in the morning stays nine in the morning. A time the clocks skip
 * does not occur, and one that comes twice occurs the first time (RFC 5545, 3.3.10).
 */
export class Recurrence {
  private constructor(
    private readonly text: RuleText,
    private readonly rules: readonly RRuleTemporal[],
    private readonly exceptions: readonly RRuleTemporal[],
  ) {}

  /** @throws RuleTextError with every fault, as the contract words them */
  static parse(rrule: string): Recurrence {
    const text = readRuleText(rrule);
    try {
      return new Recurrence(text, build(text, 'RRULE'), build(text, 'EXRULE'));
    } catch (error) {
      throw new RuleTextError([parseFault(messageOf(error))]);
    }
  }

  /**
   * A rule that was stored; null where it cannot be followed here and now, such as in a zone that this
   * machine does not know. One such rule must not keep others from being followed, or shown.
   */
  static stored(rrule: string): Recurrence | null {
    try {
      return Recurrence.parse(rrule);
    } catch (error) {
      if (error instanceof RuleTextError) return null;
      throw error;
    }
  }

  /** Name of an IANA zone. */
  get timezone(): string {
    return this.text.timezone;
  }

  /** Where all rules end at one time, that time as clocks of the zone show it; else empty. */
  get until(): string {
    const ends = this.ownRules().map(({ parts }) => parts.get('UNTIL'));
    const [end] = ends;
    if (end === undefined || ends.some((other) => other !== end)) return '';
    return localTime(this.timezone, untilOf(end, this.timezone)).toISOString().slice(0, 19);
  }

  first(): Promise<Date | null> {
    return this.after(new Date(0), true);
  }

  /** The last occurrence; null where a rule goes on for ever, or nothing ever occurs. */
  async last(): Promise<Date | null> {
    const hasEnd = ({ parts }: Rule): boolean => parts.has('COUNT') || parts.has('UNTIL');
    return this.ownRules().every(hasEnd) ? this.before(new Date(8.64e15)) : null;
  }

  /** The next occurrence after an instant, or at it. */
  async after(instant: Date, inclusive = false): Promise<Date | null> {
    return dateOf(await find(this.forward(), instant, inclusive));
  }

  /**
   * The newest occurrence up to `instant`, where `known` is one. Falls back to `known` where the rule
   * has too few to find another.
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

  private ownRules(): Rule[] {
    return this.text.rules.filter(({ kind }) => kind === 'RRULE');
  }

  private forward(): Search {
    return {
      rules: this.rules.map((rule) => new RuleWalk(rule, 'next')),
      exceptions: this.exceptions.map((rule) => new RuleWalk(rule, 'next')),
      turns: new Turns(),
    };
  }

  private async before(instant: Date): Promise<Date | null> {
    const turns = new Turns();
    const rules: RuleWalk[] = [];
    for (const [rule, same] of zip(this.rules, build(this.text, 'RRULE', MAX_PERIODS_BACK))) {
      // A rule that never occurs would be gone through for long.
      const occurs = new RuleWalk(rule, 'next').from(new Date(0), true) !== null;
      if (occurs) rules.push(new RuleWalk(same, 'previous'));
      await turns.next();
    }
    const exceptions = this.exceptions.map((rule) => new RuleWalk(rule, 'previous'));
    return dateOf(await find({ rules, exceptions, turns }, instant, true));
  }
}

/** What one search goes through, all in the same direction. */
interface Search {
  rules: readonly RuleWalk[];
  exceptions: readonly RuleWalk[];
  turns: Turns;
}

/** The nearest occurrence that no exception takes out. Each rule is looked at in a turn of its own. */
async function find(
  { rules, exceptions, turns }: Search,
  instant: Date,
  inclusive: boolean,
): Promise<Occurrence | null> {
  let from = instant;
  let isIncluded = inclusive;
  for (let tries = 0; tries < MAX_EXCEPTIONS; tries++) {
    const found: (Occurrence | null)[] = [];
    for (const rule of rules) {
      found.push(rule.from(from, isIncluded));
      await turns.next();
    }
    const nearest = nearestOf(found, from);
    if (nearest === null) return null;
    const time = dateOf(nearest);
    if (!(await isExcepted(time, exceptions, turns))) return nearest;
    from = time;
    isIncluded = false;
  }
  return null;
}

async function isExcepted(
  time: Date,
  exceptions: readonly RuleWalk[],
  turns: Turns,
): Promise<boolean> {
  for (const rule of exceptions) {
    if (dateOf(rule.from(time, true))?.getTime() === time.getTime()) return true;
    await turns.next();
  }
  return false;
}

function dateOf(occurrence: Occurrence): Date;
function dateOf(occurrence: Occurrence | null): Date | null;
function dateOf(occurrence: Occurrence | null): Date | null {
  return occurrence === null ? null : new Date(occurrence.epochMilliseconds);
}

function nearestOf(found: readonly (Occurrence | null)[], instant: Date): Occurrence | null {
  const distance = (one: Occurrence): number => Math.abs(one.epochMilliseconds - instant.getTime());
  return found.reduce(
    (best, one) => (one !== null && (best === null || distance(one) < distance(best)) ? one : best),
    null,
  );
}

function build(text: RuleText, kind: Rule['kind'], maxIterations = MAX_PERIODS): RRuleTemporal[] {
  const skipped = skippedStart(text);
  const share = MAX_CANDIDATES / text.rules.length;
  return text.rules
    .filter((rule) => rule.kind === kind)
    .map(({ parts }) => {
      const written = [...withTimeOf(skipped, parts)].map(([name, value]) =>
        name === 'UNTIL'
          ? `UNTIL=${ruleInstant(untilOf(value, text.timezone))}`
          : `${name}=${value}`,
      );
      const start = `DTSTART;TZID=${text.timezone}:${text.start}`;
      const rruleString = `${start}\nRRULE:${written.join(';')}`;
      return new RRuleTemporal({
        rruleString,
        maxIterations: periodsOf(parts, maxIterations, share),
      });
    });
}

/**
 * All days of a year or a month are worked out to tell whether one of them is an occurrence, and where it is
 * one by its place among them, all times of these days as well, however many periods have no such place.
 */
function periodsOf(parts: Rule['parts'], most: number, candidates: number): number {
  const enough = MIN_PERIODS.get(parts.get('FREQ') ?? '');
  if (enough === undefined) return most;
  const least = parts.has('BYSETPOS') ? 1 : enough;
  const affordable = Math.floor(candidates / occurrencesOf(parts));
  return Math.min(MAX_PERIODS, Math.max(least, affordable));
}

/** The start as clocks would show it, where it falls into a gap of theirs; else null. */
function skippedStart({ start, timezone }: RuleText): Date | null {
  const [, year, month, day, hour, minute, second] = existing(
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(start),
    'the text of a rule was read before its parts',
  );
  const local = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(local.getTime())) return null;
  return localTime(timezone, instantOf(timezone, local)).getTime() === local.getTime()
    ? null
    : local;
}

/** The library moves a skipped start behind the gap; the days that have that time shall keep it. */
function withTimeOf(start: Date | null, parts: Rule['parts']): ReadonlyMap<string, string> {
  const frequency = parts.get('FREQ');
  if (start === null || frequency === 'MINUTELY') return parts;
  const hour = frequency === 'HOURLY' ? [] : [['BYHOUR', String(start.getUTCHours())] as const];
  return new Map([...hour, ['BYMINUTE', String(start.getUTCMinutes())], ...parts]);
}

/** The end of a rule, inclusive. Without `Z` it is local, and a date alone is its last second. */
function untilOf(value: string, timezone: string): Date {
  const [, year, month, day, hour = '23', minute = '59', second = '59'] = existing(
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d))?/.exec(value),
    'the text of a rule was read before its parts',
  );
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const local = new Date(text);
  if (Number.isNaN(local.getTime())) throw new Error(`invalid UNTIL: ${value}`);
  return value.endsWith('Z') ? local : instantOf(timezone, local);
}
