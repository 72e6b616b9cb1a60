import { resultOr } from '../common/errors/errors.js';
import { entryOf } from '../common/invariants.js';

/** Names in the time zone database of zones that `Intl` lists only under a former name. */
const CURRENT_NAMES = [
  'Africa/Asmara',
  'America/Argentina/Buenos_Aires',
  'America/Argentina/Catamarca',
  'America/Argentina/Cordoba',
  'America/Argentina/Jujuy',
  'America/Argentina/Mendoza',
  'America/Atikokan',
  'America/Indiana/Indianapolis',
  'America/Kentucky/Louisville',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'Pacific/Chuuk',
  'Pacific/Kanton',
  'Pacific/Pohnpei',
  'UTC',
];

/** Formats by lowercase name: names have no case, and requests can contain any notation of a name. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError for an unknown time zone */
function formatOf(timezone: string): Intl.DateTimeFormat {
  const key = timezone.toLowerCase();
  const known = formats.get(key);
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
  formats.set(key, format);
  return format;
}

/** Returns the local time of a time zone, encoded as if it were UTC. */
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
 * Returns the instant of a local time. For a repeated local time, returns its first occurrence. A
 * skipped local time is computed with the offset before the gap.
 *
 * @param local local time, encoded as if it were UTC
 */
export function zonedInstantOf(timezone: string, local: Date): Date {
  const offsetAt = (instant: number): number =>
    localTime(timezone, new Date(instant)).getTime() - instant;
  const earlier = local.getTime() - offsetAt(local.getTime() - 86_400_000);
  const later = local.getTime() - offsetAt(local.getTime() + 86_400_000);
  const isEarlier = localTime(timezone, new Date(earlier)).getTime() === local.getTime();
  const isLater = localTime(timezone, new Date(later)).getTime() === local.getTime();
  return new Date(isLater && !isEarlier ? later : earlier);
}

/** Returns the names of time zones. Schedules can also use further names, such as `US/Eastern`. */
export const zoneNames = (): string[] =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), ...CURRENT_NAMES])].sort();

/** Returns true for the name of a time zone that a schedule can use. */
export const isZone = (name: string): boolean =>
  /^[\w+/-]+$/.test(name) && resultOr(() => formatOf(name), null, RangeError) !== null;
