import type { Settings } from '../../config/settings.js';
import type { EventRow } from '../../runs/events/job-events.repository.js';
import { tooManyEvents, tooMuchTold } from '../../runs/run-explanations.js';
import { toEventRow } from '../runner/events.js';

type Limits = Pick<Settings, 'JOB_EVENTS' | 'JOB_EVENT_BYTES'>;

/** Counts the events of one run: a task that loops for ever must not fill the database. */
export class EventAllowance {
  private count = 0;
  private bytes = 0;
  private isUsedUp = false;

  /**
   * @returns what of a batch is to be stored, in the place of the first event beyond the limits one that
   *   says so, and none after it; and what was exceeded just now, empty without
   */
  take(
    batch: readonly EventRow[],
    limits: Limits,
  ): { events: readonly EventRow[]; excess: string } {
    if (this.isUsedUp) return { events: [], excess: '' };
    for (const [index, event] of batch.entries()) {
      const excess = this.excessWith(event, limits);
      if (excess === '') continue;
      this.isUsedUp = true;
      return { events: [...batch.slice(0, index), lastWord(excess, event)], excess };
    }
    return { events: batch, excess: '' };
  }

  private excessWith({ stdout, eventData }: EventRow, limits: Limits): string {
    this.count += 1;
    this.bytes += Buffer.byteLength(stdout) + Buffer.byteLength(JSON.stringify(eventData));
    if (this.count > limits.JOB_EVENTS) return tooManyEvents(limits.JOB_EVENTS);
    return this.bytes > limits.JOB_EVENT_BYTES ? tooMuchTold(limits.JOB_EVENT_BYTES) : '';
  }
}

function lastWord(stdout: string, { uuid, counter, startLine, created }: EventRow): EventRow {
  const lines = { start_line: startLine, end_line: startLine + 1 };
  return toEventRow({ uuid, counter, event: 'verbose', stdout, ...lines, created });
}
