import { entryOf } from '../common/invariants.js';

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError for a zone that is not known */
function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timezone, format);
  return format;
}

/** The wall clock of a zone, as if it were UTC. */
export function localTime(timezone: string, instant: Date): Date {
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const [year, month] = [entryOf(parts, 'year'), entryOf(parts, 'month')];
  const [day, hour] = [entryOf(parts, 'day'), entryOf(parts, 'hour')];
  const [minute, second] = [entryOf(parts, 'minute'), entryOf(parts, 'second')];
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second));
}

/**
 * The instant at which the wall clock of a zone shows a time. Of a time that comes twice the first is
 * meant, and one that is skipped counts from before the gap.
 *
 * @param local the time as if it were UTC
 */
export function instantOf(timezone: string, local: Date): Date {
  const offsetAt = (instant: number): number =>
    localTime(timezone, new Date(instant)).getTime() - instant;
  const earlier = local.getTime() - offsetAt(local.getTime() - 86_400_000);
  const later = local.getTime() - offsetAt(local.getTime() + 86_400_000);
  const isEarlier = localTime(timezone, new Date(earlier)).getTime() === local.getTime();
  const isLater = localTime(timezone, new Date(later)).getTime() === local.getTime();
  return new Date(isLater && !isEarlier ? later : earlier);
}

/** Every zone a schedule may name. */
export const zoneNames = (): string[] =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC'])].sort();
