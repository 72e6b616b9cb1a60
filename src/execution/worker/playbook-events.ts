import { exactJson } from '../../common/exact-json.js';
import { HIDDEN_ARTIFACTS, HIDES_ARTIFACTS } from '../../runs/artifacts.js';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import type { HostSummary } from '../../runs/events/job-host-summaries.repository.js';
import { textsIn } from '../runner/clean-text.js';
import {
  artifacts,
  countRun,
  hostSummariesOf,
  isStatistics,
  MAX_SUMMARIES,
  setsHiddenStats,
  withoutHiddenStats,
  withoutOutput,
  type RunCounts,
} from '../runner/event-summaries.js';
import {
  isPlainOutput,
  MAX_ARTIFACT_BYTES,
  toEventRow,
  type RunnerEvent,
} from '../runner/events.js';
import { createMasker, type Masker } from '../runner/masker.js';
import type { ActiveRun } from './active-runs.service.js';
import type { EventStore } from './event-store.service.js';

/**
 * Maximum number of events that wait. Callbacks of a project print far fewer events after the statistics,
 * and secrets are hardly ever broken over so many events.
 */
const MAX_WAITING = 1000;
/**
 * Maximum size of the events that wait, in characters of their output and data. In memory, data can be 60
 * times as large.
 */
const MAX_WAITING_LENGTH = 4 * 1024 * 1024;
/**
 * Maximum number of lines that wait until the playbook starts: warnings, and the reason why it does
 * not start.
 */
const MAX_STARTUP_LINES = 50;
/**
 * Maximum number of hidden texts, and of their characters, that are masked in the output after the
 * statistics. More texts would make the search slow, so the whole output is hidden instead.
 */
const MAX_HIDDEN_TEXTS = 1000;
const MAX_HIDDEN_LENGTH = 64 * 1024;
/** Ansible's message if the limit matches none of the inventory's hosts. */
const NO_HOST_LEFT = '--limit leaves us with no hosts to target';

export type RowOfEvent = (event: RunnerEvent) => EventRow;

/** Receives the events of one playbook: stores them, and collects the data of the run's end. */
export class PlaybookEvents {
  readonly summaries = new Map<string, HostSummary>();
  private collected: Record<string, unknown> = {};
  private collectedBytes = 0;
  private isHidden = false;
  private failed = false;
  /**
   * Masks the values of hidden statistics in the statistics and in all later events; null if the
   * values can have changed.
   */
  private noLogMasker: Masker | null = createMasker([]);
  /** False if there are too many hidden values to mask them. */
  private isMaskable = true;
  /** Counter of the first event with statistics. */
  private statisticsCounter = Infinity;
  /**
   * The statistics and later events. They wait for the end of the run, because a late event can
   * reveal that the statistics must be hidden.
   */
  private waiting: EventRow[] = [];
  /** Size of the waiting events without the first, whose data names all hosts of the run. */
  private waitingLength = 0;
  /** The last lines, which can contain the beginning of a secret that continues in the next lines. */
  private unfinished: EventRow[] = [];
  /** Output before the playbook started; null after its start. */
  private startupRows: EventRow[] | null = [];
  private counts: RunCounts = { playCount: 0, taskCount: 0 };
  private emitted: number;

  constructor(
    private readonly store: EventStore,
    private readonly run: ActiveRun,
    private readonly masker: Masker,
    private readonly rowOf: RowOfEvent = toEventRow,
  ) {
    this.emitted = run.position.counter;
  }

  async take(batch: readonly RunnerEvent[]): Promise<void> {
    await this.record(this.withoutStartup(batch.map((event) => this.numbered(this.rowOf(event)))));
  }

  /**
   * Stores the waiting events; no events follow.
   *
   * @throws RunEnded if the lease is lost
   */
  async finish(): Promise<void> {
    await this.record(this.takeStartupRows());
    await this.write(this.waiting.splice(0));
    await this.store.store(this.run, this.masked(this.unfinished.splice(0)));
  }

  /**
   * Returns true if Ansible refused to start because the limit matches no host. In that case nothing is
   * stored.
   */
  isWithoutHosts(): boolean {
    return this.startupRows?.some(({ stdout }) => stdout.includes(NO_HOST_LEFT)) ?? false;
  }

  /**
   * Returns true if a task failed or a host was unreachable, so that the events show why the run failed.
   */
  hasFailure(): boolean {
    return this.failed;
  }

  /** True if the artifacts are too large to be kept. */
  get hasLargeArtifacts(): boolean {
    return this.collectedBytes > MAX_ARTIFACT_BYTES;
  }

  /** Returns the columns of the job. */
  fields(): Record<string, unknown> {
    return {
      artifacts: exactJson(this.isHidden ? HIDDEN_ARTIFACTS : this.masker.value(this.collected)),
      host_status_counts: JSON.stringify(hostStatusCounts(this.summaries.values())),
      playbook_counts: JSON.stringify({
        play_count: this.counts.playCount,
        task_count: this.counts.taskCount,
      }),
      emitted_events: this.emitted,
    };
  }

  /**
   * Returns all `set_stats` values in plain text if some of them were set under `no_log`; otherwise
   * nothing.
   */
  secretArtifacts(): Readonly<Record<string, unknown>> {
    if (!this.isHidden) return {};
    const set = Object.entries(this.collected).filter(([name]) => name !== HIDES_ARTIFACTS);
    return Object.fromEntries(set);
  }

  private async record(given: readonly EventRow[]): Promise<void> {
    const rows = given.map((row) => {
      const kept = this.withoutRepeated(row);
      this.collect(kept);
      return kept;
    });
    this.counts = countRun(rows, this.counts);
    this.emitted += rows.length;
    await this.write(this.withoutWaiting(rows));
  }

  /** Numbers an event of Ansible after the output of the run's preparation. */
  private numbered(row: EventRow): EventRow {
    const { counter, line } = this.run.position;
    return {
      ...row,
      counter: row.counter + counter,
      startLine: row.startLine + line,
      endLine: row.endLine + line,
    };
  }

  private withoutStartup(rows: readonly EventRow[]): readonly EventRow[] {
    if (this.startupRows === null) return rows;
    this.startupRows.push(...rows);
    const isStartup =
      this.startupRows.length <= MAX_STARTUP_LINES &&
      lengthOf(this.startupRows) <= MAX_WAITING_LENGTH &&
      rows.every(isPlainOutput);
    return isStartup ? [] : this.takeStartupRows();
  }

  private takeStartupRows(): EventRow[] {
    const rows = this.startupRows ?? [];
    this.startupRows = null;
    return rows;
  }

  /**
   * Returns the event. Ansible prints statistics once and only their data is not limited, so large data of
   * later statistics is dropped.
   */
  private withoutRepeated(row: EventRow): EventRow {
    const isRepeated = isStatistics(row) && this.statisticsCounter < Infinity;
    return isRepeated && lengthOf([row]) > MAX_WAITING_LENGTH ? { ...row, eventData: {} } : row;
  }

  private collect(row: EventRow): void {
    this.failed ||= row.failed;
    for (const [host, summary] of hostSummariesOf(row)) {
      const name = this.masker.text(host);
      const isKept = this.summaries.size < MAX_SUMMARIES || this.summaries.has(name);
      if (isKept) this.summaries.set(name, summary);
    }
    if (isStatistics(row)) this.collectStatistics(row);
    if (setsHiddenStats(row)) this.hide();
  }

  private collectStatistics(row: EventRow): void {
    this.statisticsCounter = Math.min(this.statisticsCounter, row.counter);
    const found = artifacts(row);
    const data = row.eventData['artifact_data'];
    this.collectedBytes += typeof data === 'string' ? Infinity : exactJson(found).length;
    const hides = [found, this.collected].some((stats) => stats[HIDES_ARTIFACTS]);
    this.collected = this.hasLargeArtifacts ? {} : Object.assign(this.collected, found);
    if (this.isHidden || hides || data === HIDDEN_ARTIFACTS) this.hide();
  }

  private hide(): void {
    this.isHidden = true;
    this.noLogMasker = null;
  }

  /** Returns the masker of hidden statistics, created once for all events of a batch. */
  private hiddenMasker(): Masker {
    if (this.noLogMasker) return this.noLogMasker;
    const texts = textsIn(this.collected);
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    const isLarge = texts.length > MAX_HIDDEN_TEXTS || length > MAX_HIDDEN_LENGTH;
    this.isMaskable = !isLarge && !this.hasLargeArtifacts;
    this.noLogMasker = createMasker(this.isMaskable ? texts : []);
    return this.noLogMasker;
  }

  /** Adds the events that must wait to the waiting events, and returns the others. */
  private withoutWaiting(rows: readonly EventRow[]): EventRow[] {
    if (this.isHidden) return [...this.waiting.splice(0), ...rows];
    const from = this.waiting.length > 0 ? 0 : rows.findIndex(isStatistics);
    if (from < 0) return [...rows];
    const isFirst = this.waiting.length === 0;
    this.waiting.push(...rows.slice(from));
    this.waitingLength += lengthOf(rows.slice(isFirst ? from + 1 : from));
    // The waiting events are limited to protect the worker's memory: beyond the limit the statistics are
    // hidden without waiting.
    if (this.waiting.length > MAX_WAITING || this.waitingLength > MAX_WAITING_LENGTH) this.hide();
    return [...rows.slice(0, from), ...(this.isHidden ? this.waiting.splice(0) : [])];
  }

  private async write(rows: readonly EventRow[]): Promise<void> {
    const complete = this.withoutUnfinished([...this.unfinished.splice(0), ...rows]);
    await this.store.store(this.run, this.masked(complete));
  }

  private withoutUnfinished(rows: readonly EventRow[]): readonly EventRow[] {
    const output = rows.slice(rows.findLastIndex((row) => !isPlainOutput(row)) + 1);
    const texts = output.map(({ stdout }) => stdout);
    const open = Math.max(this.hiddenMasker().openPieces(texts), this.masker.openPieces(texts));
    const unfinished = open > MAX_WAITING ? [] : rows.slice(rows.length - open);
    this.unfinished = lengthOf(unfinished) > MAX_WAITING_LENGTH ? [] : unfinished;
    return rows.slice(0, rows.length - this.unfinished.length);
  }

  private masked(rows: readonly EventRow[]): readonly EventRow[] {
    if (!this.isHidden) return this.masker.events(rows);
    const masker = this.hiddenMasker();
    return this.masker.events(masker.events(rows.map((row) => this.withoutHidden(row))));
  }

  private withoutHidden(row: EventRow): EventRow {
    const isShown = this.isMaskable || isStatistics(row) || row.counter < this.statisticsCounter;
    return isShown ? withoutHiddenStats(row) : withoutOutput(row);
  }
}

/** Returns the size of events, in characters of their output and data. */
const lengthOf = (rows: readonly EventRow[]): number =>
  rows.reduce((sum, { stdout, eventData }) => sum + stdout.length + exactJson(eventData).length, 0);

/**
 * Statuses in ascending order of precedence: the last match is used
 * (docs/contract/runs.md#host-summaries).
 */
const STATUSES = ['skipped', 'ok', 'changed', 'failures', 'dark'] as const;

/**
 * Returns the number of hosts by status. Each host counts once. Omits statuses without a host.
 */
export function hostStatusCounts(summaries: Iterable<HostSummary>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const summary of summaries) {
    const status = STATUSES.findLast((name) => summary[name] > 0);
    if (status) counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
