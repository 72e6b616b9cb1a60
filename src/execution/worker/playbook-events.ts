import { exactJson } from '../../common/exact-json.js';
import { HIDDEN_ARTIFACTS, HIDES_ARTIFACTS } from '../../runs/artifacts.js';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import type { HostSummary } from '../../runs/events/job-host-summaries.repository.js';
import { textsIn } from '../runner/clean-text.js';
import {
  artifacts,
  countRun,
  hostSummaries,
  isStatistics,
  setsHiddenStats,
  withoutHiddenStats,
  type RunCounts,
} from '../runner/event-summaries.js';
import { isPlainOutput, toEventRow, type RunnerEvent } from '../runner/events.js';
import { createMasker, type Masker } from '../runner/masker.js';
import type { ActiveRun } from './active-runs.service.js';
import type { EventStore } from './event-store.service.js';
import { hostStatusCounts } from './host-status.js';

/**
 * Events held back at most: what callbacks of a project print after the statistics are far fewer, and a secret is
 * hardly ever broken over so many.
 */
const MOST_HELD = 1000;
/** Lines that wait until it is known whether the playbook begins: warnings, and why it does not. */
const MOST_OPENING = 50;
/** What Ansible ends with when it has hosts, and the limit leaves none of them. */
const NO_HOST_LEFT = '--limit leaves us with no hosts to target';

/** Makes the row of an event. */
export type RowOfEvent = (event: RunnerEvent) => EventRow;

/** Takes the events of one playbook: stores them, and keeps what its end is made of. */
export class PlaybookEvents {
  readonly summaries = new Map<string, HostSummary>();
  private collected: Record<string, unknown> = {};
  private isHidden = false;
  private failed = false;
  /** Hides what was set under `no_log` in what comes with the statistics and after them. */
  private hiding: Masker = createMasker([]);
  /**
   * The statistics and what came after them. They wait for the end of the run: an event that arrives
   * late may tell that the statistics must not be seen.
   */
  private held: EventRow[] = [];
  /** The last lines so far: a secret may begin in them that the next go on with. */
  private unfinished: EventRow[] = [];
  /** What was printed before the playbook began; null from then on. */
  private opening: EventRow[] | null = [];
  private counts: RunCounts = { playCount: 0, taskCount: 0 };
  private emitted = 0;

  constructor(
    private readonly store: EventStore,
    private readonly run: ActiveRun,
    private readonly masker: Masker,
    private readonly rowOf: RowOfEvent = toEventRow,
  ) {}

  async take(batch: readonly RunnerEvent[]): Promise<void> {
    await this.record(this.withoutOpening(batch.map(this.rowOf)));
  }

  /** Stores what was held back; no events follow. @throws RunEnded when the lease is gone */
  async finish(): Promise<void> {
    await this.record(this.open());
    await this.write(this.held.splice(0));
    await this.store.store(this.run, this.masked(this.unfinished.splice(0)));
  }

  /** Whether Ansible refused to begin because the limit matches none of the hosts. Nothing is stored then. */
  isWithoutHosts(): boolean {
    return this.opening?.some(({ stdout }) => stdout.includes(NO_HOST_LEFT)) ?? false;
  }

  /** Returns true when a task failed or a host was unreachable: then the events say why the run failed. */
  hasFailure(): boolean {
    return this.failed;
  }

  /** Columns of the job. */
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

  /** All that was set with `set_stats` when some of it was set under `no_log`, in clear; else nothing. */
  secretArtifacts(): Readonly<Record<string, unknown>> {
    if (!this.isHidden) return {};
    const set = Object.entries(this.collected).filter(([name]) => name !== HIDES_ARTIFACTS);
    return Object.fromEntries(set);
  }

  private async record(rows: readonly EventRow[]): Promise<void> {
    for (const row of rows) this.collect(row);
    this.counts = countRun(rows, this.counts);
    this.emitted += rows.length;
    await this.write(this.withoutHeld(rows));
  }

  private withoutOpening(rows: readonly EventRow[]): readonly EventRow[] {
    if (this.opening === null) return rows;
    this.opening.push(...rows);
    const isOpening = this.opening.length <= MOST_OPENING && rows.every(isPlainOutput);
    return isOpening ? [] : this.open();
  }

  private open(): EventRow[] {
    const rows = this.opening ?? [];
    this.opening = null;
    return rows;
  }

  private collect(row: EventRow): void {
    this.failed ||= row.failed;
    for (const [host, summary] of hostSummaries(row)) {
      this.summaries.set(this.masker.text(host), summary);
    }
    Object.assign(this.collected, artifacts(row));
    const isHiddenNow = this.isHidden || Boolean(this.collected[HIDES_ARTIFACTS]);
    if (setsHiddenStats(row) || (isStatistics(row) && isHiddenNow)) this.hide();
  }

  private hide(): void {
    this.isHidden = true;
    this.hiding = createMasker(textsIn(this.collected));
  }

  /** Holds back what must wait. @returns what can be stored */
  private withoutHeld(rows: readonly EventRow[]): EventRow[] {
    if (this.isHidden) return [...this.held.splice(0), ...rows];
    const from = this.held.length > 0 ? 0 : rows.findIndex(isStatistics);
    if (from < 0) return [...rows];
    this.held.push(...rows.slice(from));
    // Nobody may fill the memory of the worker: the statistics are hidden unseen, and nothing waits.
    if (this.held.length > MOST_HELD) this.hide();
    return [...rows.slice(0, from), ...(this.isHidden ? this.held.splice(0) : [])];
  }

  private async write(rows: readonly EventRow[]): Promise<void> {
    const whole = this.withoutUnfinished([...this.unfinished.splice(0), ...rows]);
    await this.store.store(this.run, this.masked(whole));
  }

  private withoutUnfinished(rows: readonly EventRow[]): readonly EventRow[] {
    const output = rows.slice(rows.findLastIndex((row) => !isPlainOutput(row)) + 1);
    const texts = output.map(({ stdout }) => stdout);
    const open = Math.max(this.hiding.openPieces(texts), this.masker.openPieces(texts));
    const count = rows.length - (open > MOST_HELD ? 0 : open);
    this.unfinished = rows.slice(count);
    return rows.slice(0, count);
  }

  private masked(rows: readonly EventRow[]): readonly EventRow[] {
    const shown = this.isHidden ? this.hiding.events(rows.map(withoutHiddenStats)) : rows;
    return this.masker.events(shown);
  }
}
