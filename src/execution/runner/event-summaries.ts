import { isRecord, tableOf } from '../../common/records.js';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import type { HostSummary } from '../../runs/events/job-host-summaries.repository.js';
import { HIDDEN_ARTIFACTS } from '../../runs/artifacts.js';
import { cleanText, mapTextsIn, truncateText } from './clean-text.js';
import { MAX_NAME_LENGTH } from './events.js';

/** How often each event occurs in the counts of a run; fed with every row in any order. */
export interface RunCounts {
  readonly playCount: number;
  readonly taskCount: number;
}

/** Begins what `show_custom_stats` prints of them below the recap, per host and for the run. */
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

/** Host summaries by host name; empty for any event but `playbook_on_stats`. */
export function hostSummaries({ event, eventData }: Stats): Map<string, HostSummary> {
  const summaries = new Map<string, HostSummary>();
  if (!isStatistics({ event })) return summaries;
  const hosts = new Set(COUNTERS.flatMap((counter) => Object.keys(recordOf(eventData[counter]))));
  for (const host of hosts) {
    const count = (counter: (typeof COUNTERS)[number]): number => {
      const value = recordOf(eventData[counter])[host];
      return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
    };
    const counts = tableOf(COUNTERS, count);
    const failed = counts.dark > 0 || counts.failures > 0;
    summaries.set(truncateText(cleanText(host), MAX_NAME_LENGTH), { ...counts, failed });
  }
  return summaries;
}

/** What `set_stats` collected for the whole run (per-host data is left out); `{}` when there is none. */
export function artifacts({ event, eventData }: Stats): Record<string, unknown> {
  if (!isStatistics({ event })) return {};
  return mapTextsIn(recordOf(eventData['artifact_data']), cleanText);
}

/**
 * Whether the event is a `set_stats` under `no_log`. What it set stands in the statistics of the run in
 * clear, and nothing there tells which of them it was: they are all hidden then.
 */
export function setsHiddenStats({ eventData }: Pick<EventRow, 'eventData'>): boolean {
  const { task_action: written, resolved_action: resolved, res } = eventData;
  const isSetStats = [written, resolved].some(
    (action) => typeof action === 'string' && action.split('.').at(-1) === 'set_stats',
  );
  return isSetStats && isRecord(res) && 'censored' in res;
}

/** The event without the statistics that must not be seen; its output keeps its number of lines. */
export function withoutHiddenStats(row: EventRow): EventRow {
  if (!isStatistics(row)) return row;
  const lines = row.stdout.split('\n');
  const start = lines.findIndex((line) => line.startsWith(PRINTED_ARTIFACTS));
  const shown = lines.map((line, index) =>
    start >= 0 && index > start && line.trim() !== '' ? HIDDEN_ARTIFACTS : line,
  );
  return {
    ...row,
    stdout: shown.join('\n'),
    eventData: { ...row.eventData, artifact_data: HIDDEN_ARTIFACTS },
  };
}

/** Whether the event holds the statistics of the run. */
export const isStatistics = ({ event }: Pick<EventRow, 'event'>): boolean =>
  event === 'playbook_on_stats';

/** Adds a batch of rows to the counts of a run. */
export function countRun(rows: readonly Pick<EventRow, 'event'>[], before: RunCounts): RunCounts {
  const of = (event: string): number => rows.filter((row) => row.event === event).length;
  return {
    playCount: before.playCount + of('playbook_on_play_start'),
    taskCount: before.taskCount + of('playbook_on_task_start'),
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
