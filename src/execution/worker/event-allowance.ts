import type { Settings } from '../../config/settings.js';
import type { EventRow, StoredEvent } from '../../runs/events/job-events.repository.js';
import { storedEvent } from '../../runs/events/stored-event.js';
import { tooManyEvents, eventsTooLarge } from '../../runs/run-explanations.js';
import { toEventRow } from '../runner/events.js';

type Limits = Pick<Settings, 'JOB_EVENTS' | 'JOB_EVENT_BYTES'>;

/** Limits the events of one run, so that a task in an endless loop cannot fill the database. */
export class EventAllowance {
  private count = 0;
  private bytes = 0;
  private isUsedUp = false;

  /**
   * Applies the limits to a batch.
   *
   * @returns the events to store, and the limit that this batch exceeded or an empty text. The first event
   *   beyond the limits is replaced by a message; later events are dropped
   */
  take(
    batch: readonly EventRow[],
    limits: Limits,
  ): { events: readonly StoredEvent[]; excess: string } {
    const events: StoredEvent[] = [];
    if (this.isUsedUp) return { events, excess: '' };
    for (const row of batch) {
      const event = storedEvent(row);
      const excess = this.excessWith(event, limits);
      if (excess !== '') {
        this.isUsedUp = true;
        return { events: [...events, limitEvent(excess, event)], excess };
      }
      events.push(event);
    }
    return { events, excess: '' };
  }

  private excessWith({ stdout, dataText }: StoredEvent, limits: Limits): string {
    this.count += 1;
    this.bytes += Buffer.byteLength(stdout) + Buffer.byteLength(dataText);
    if (this.count > limits.JOB_EVENTS) return tooManyEvents(limits.JOB_EVENTS);
    return this.bytes > limits.JOB_EVENT_BYTES ? eventsTooLarge(limits.JOB_EVENT_BYTES) : '';
  }
}

function limitEvent(stdout: string, { uuid, counter, startLine, created }: EventRow): StoredEvent {
  const lines = { start_line: startLine, end_line: startLine + 1 };
  return storedEvent(toEventRow({ uuid, counter, event: 'verbose', stdout, ...lines, created }));
}
