import {
  artifacts,
  countRun,
  displayArtifacts,
  hostSummaries,
  setsHiddenStats,
  withoutHiddenStats,
  type HostSummary,
  type RunCounts,
} from '../runner/event-summaries.js';
import { toEventRow, type RunnerEvent } from '../runner/events.js';
import type { Masker } from '../runner/masker.js';
import type { ActiveRun } from './active-runs.js';
import type { EventStore } from './event-store.js';
import { hostStatusCounts } from './host-status.js';

/** Takes the events of one playbook: stores them, and keeps what its end is made of. */
export class PlaybookEvents {
  readonly summaries = new Map<string, HostSummary>();
  private collected: Record<string, unknown> = {};
  private counts: RunCounts = { playCount: 0, taskCount: 0 };
  private emitted = 0;

  constructor(
    private readonly store: EventStore,
    private readonly run: ActiveRun,
    private readonly masker: Masker,
  ) {}

  async take(batch: readonly RunnerEvent[]): Promise<void> {
    const rows = batch.map(toEventRow);
    for (const row of rows) {
      for (const [host, summary] of hostSummaries(row)) {
        this.summaries.set(this.masker.text(host), summary);
      }
      Object.assign(this.collected, artifacts(row));
      if (setsHiddenStats(row)) this.collected['_ansible_no_log'] = true;
    }
    const isHidden = Boolean(this.collected['_ansible_no_log']);
    this.counts = countRun(rows, this.counts);
    this.emitted += rows.length;
    await this.store.store(
      this.run,
      rows.map((row) => this.masker.event(isHidden ? withoutHiddenStats(row) : row)),
    );
  }

  /** Columns of the job. */
  fields(): Record<string, unknown> {
    return {
      artifacts: JSON.stringify(this.masker.value(displayArtifacts(this.collected))),
      host_status_counts: JSON.stringify(hostStatusCounts(this.summaries.values())),
      playbook_counts: JSON.stringify({
        play_count: this.counts.playCount,
        task_count: this.counts.taskCount,
      }),
      emitted_events: this.emitted,
    };
  }
}
