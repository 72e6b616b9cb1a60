import { isRecord, tableOf } from '../../common/records.js';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import type { HostSummary } from '../../runs/events/job-host-summaries.repository.js';
import { HIDDEN_ARTIFACTS } from '../../runs/artifacts.js';
import { storableText, truncateText } from '../../common/fields/text.js';
import { mapTextsIn } from './clean-text.js';
import { storableCount } from './events.js';

export interface RunCounts {
  readonly playCount: number;
  readonly taskCount: number;
}

/**
 * Maximum number of hosts with a summary, as in imported inventories: a run can print statistics of any hosts,
 * and the worker keeps the summaries in memory until the end of the run.
 */
export const MAX_SUMMARIES = 500_000;
/**
 * Maximum length of the name of a host, as in inventories; indexes do not support longer names.
 */
const MAX_HOST_NAME_LENGTH = 512;
/** First words of the output of `show_custom_stats` below the recap, per host and for the run. */
const PRINTED_ARTIFACTS = 'CUSTOM STATS: ';
const COUNTERS = [
  'changed',
  'dark',
  'failures',
  'ok',
  'processed',
  'skipped',
  'ignored',
  'rescued',
] as const;

type Stats = Pick<EventRow, 'event' | 'eventData'>;

/** Returns up to `MAX_SUMMARIES` host summaries by host name; empty for any event but `playbook_on_stats`. */
export function hostSummariesOf({ event, eventData }: Stats): Map<string, HostSummary> {
  const summaries = new Map<string, HostSummary>();
  if (!isStatistics({ event })) return summaries;
  const hosts = new Set(COUNTERS.flatMap((counter) => Object.keys(asRecord(eventData[counter]))));
  for (const host of [...hosts].slice(0, MAX_SUMMARIES)) {
    const count = (counter: (typeof COUNTERS)[number]): number =>
      storableCount(asRecord(eventData[counter])[host]);
    const counts = tableOf(COUNTERS, count);
    const failed = counts.dark > 0 || counts.failures > 0;
    summaries.set(truncateText(storableText(host), MAX_HOST_NAME_LENGTH), { ...counts, failed });
  }
  return summaries;
}

/**
 * Returns the values that `set_stats` collected for the whole run, without per-host values; `{}` if
 * there are none.
 */
export function artifacts({ event, eventData }: Stats): Record<string, unknown> {
  if (!isStatistics({ event })) return {};
  return mapTextsIn(asRecord(eventData['artifact_data']), storableText);
}

/**
 * Returns true for a `set_stats` event under `no_log`. The statistics of the run contain the
 * hidden values in plain text and without a mark, so all statistics are hidden then.
 */
export function setsHiddenStats({ eventData }: Pick<EventRow, 'eventData'>): boolean {
  const { task_action: written, resolved_action: resolved, res } = eventData;
  const isSetStats = [written, resolved].some(
    (action) => typeof action === 'string' && action.split('.').at(-1) === 'set_stats',
  );
  return isSetStats && isRecord(res) && 'censored' in res;
}

/** Returns the event without its hidden statistics; its output keeps its number of lines. */
export function withoutHiddenStats(row: EventRow): EventRow {
  if (!isStatistics(row)) return row;
  const lines = row.stdout.split('\n');
  const start = lines.findIndex((line) => line.startsWith(PRINTED_ARTIFACTS));
  return {
    ...row,
    stdout: start < 0 ? row.stdout : hideLines(lines, start + 1),
    eventData: { ...row.eventData, artifact_data: HIDDEN_ARTIFACTS },
  };
}

/** Returns the event with hidden output and without data; the output keeps its number of lines. */
export const withoutOutput = (row: EventRow): EventRow => ({
  ...row,
  stdout: hideLines(row.stdout.split('\n'), 0),
  eventData: {},
});

const hideLines = (lines: readonly string[], from: number): string =>
  lines
    .map((line, index) => (index >= from && line.trim() !== '' ? HIDDEN_ARTIFACTS : line))
    .join('\n');

/** Returns true for the event with the statistics of the run. */
export const isStatistics = ({ event }: Pick<EventRow, 'event'>): boolean =>
  event === 'playbook_on_stats';

/** Adds a batch of rows to the counts of a run. */
export function countRun(rows: readonly Pick<EventRow, 'event'>[], counts: RunCounts): RunCounts {
  const countOf = (event: string): number => rows.filter((row) => row.event === event).length;
  return {
    playCount: counts.playCount + countOf('playbook_on_play_start'),
    taskCount: counts.taskCount + countOf('playbook_on_task_start'),
  };
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
