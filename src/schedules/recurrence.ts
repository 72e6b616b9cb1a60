import { RRuleTemporal } from 'rrule-temporal';
import { existing } from '../common/invariants.js';
import {
  parseFault,
  readRuleText,
  ruleInstant,
  RuleTextError,
  type Rule,
  type RuleText,
} from './rule-text.js';
import { instantOf, localTime } from './zones.js';
import { messageOf } from '../common/errors/message-of.js';

/** Periods without a match (years of a yearly rule, ...) after which a rule counts as ended. */
const MAX_PERIODS = 1000;
/** The same when looking back: more minutes than a week has, so that a weekday is found. */
const MAX_PERIODS_BACK = 12_000;
/** Occurrences that exceptions may take out one after the other. */
const MAX_EXCEPTIONS = 400;

type Occurrence = ReturnType<RRuleTemporal['all']>[number];

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

  first(): Date | null {
    return this.after(new Date(0), true);
  }

  /** The last occurrence; null where a rule goes on for ever, or nothing ever occurs. */
  last(): Date | null {
    const hasEnd = ({ parts }: Rule): boolean => parts.has('COUNT') || parts.has('UNTIL');
    return this.ownRules().every(hasEnd) ? this.before(new Date(8.64e15)) : null;
  }

  /** The next occurrence after an instant, or at it. */
  after(instant: Date, inclusive = false): Date | null {
    return dateOf(this.find(instant, inclusive));
  }

  /**
   * The newest occurrence up to `instant`, where `known` is one. Falls back to `known` where the rule
   * has too few to find another.
   */
  newest(known: Date, instant: Date): Date {
    const following = this.after(known);
    if (following === null || following > instant) return known;
    const found = this.before(instant);
    return found !== null && found > known ? found : known;
  }

  upcoming(after: Date, count: number): ShownOccurrence[] {
    const found: ShownOccurrence[] = [];
    let occurrence = this.find(after, false);
    while (occurrence !== null && found.length < count) {
      const local = `${occurrence.toPlainDateTime().toString()}${occurrence.offset}`;
      found.push({ local, utc: occurrence.toInstant().toString() });
      occurrence = this.find(dateOf(occurrence), false);
    }
    return found;
  }

  private ownRules(): Rule[] {
    return this.text.rules.filter(({ kind }) => kind === 'RRULE');
  }

  private find(instant: Date, inclusive: boolean): Occurrence | null {
    let from = instant;
    let isIncluded = inclusive;
    for (let tries = 0; tries < MAX_EXCEPTIONS; tries++) {
      const next = earliest(this.rules.map((rule) => bounded(() => rule.next(from, isIncluded))));
      if (next === null || !this.isExcepted(dateOf(next))) return next;
      from = dateOf(next);
      isIncluded = false;
    }
    return null;
  }

  private before(instant: Date): Date | null {
    const rules = build(this.text, 'RRULE', MAX_PERIODS_BACK);
    let from = instant;
    let isIncluded = true;
    for (let tries = 0; tries < MAX_EXCEPTIONS; tries++) {
      const found = rules.map((rule) => dateOf(bounded(() => rule.previous(from, isIncluded))));
      const times = found.flatMap((date) => date?.getTime() ?? []);
      if (times.length === 0) return null;
      const latest = new Date(Math.max(...times));
      if (!this.isExcepted(latest)) return latest;
      from = latest;
      isIncluded = false;
    }
    return null;
  }

  private isExcepted(instant: Date): boolean {
    return this.exceptions.some(
      (rule) => dateOf(bounded(() => rule.next(instant, true)))?.getTime() === instant.getTime(),
    );
  }
}

function dateOf(occurrence: Occurrence): Date;
function dateOf(occurrence: Occurrence | null): Date | null;
function dateOf(occurrence: Occurrence | null): Date | null {
  return occurrence === null ? null : new Date(occurrence.epochMilliseconds);
}

function earliest(found: readonly (Occurrence | null)[]): Occurrence | null {
  return found.reduce(
    (best, one) =>
      one !== null && (best === null || one.epochMilliseconds < best.epochMilliseconds)
        ? one
        : best,
    null,
  );
}

/** The library gives up after its limit by throwing; a rule that old has no further occurrence. */
function bounded(find: () => Occurrence | null): Occurrence | null {
  try {
    return find();
  } catch (error) {
    if (messageOf(error).startsWith('Maximum iterations')) return null;
    throw error;
  }
}

function build(text: RuleText, kind: Rule['kind'], maxIterations = MAX_PERIODS): RRuleTemporal[] {
  const skipped = skippedStart(text);
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
      return new RRuleTemporal({ rruleString, maxIterations });
    });
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
