import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { isTransient } from '../../database/sql-state.js';
import {
  JobEventsRepository,
  type EventRow,
  type StoredEvent,
} from '../../runs/events/job-events.repository.js';
import { storedEvent } from '../../runs/events/stored-event.js';
import { RunSignals } from '../../runs/run-signals.service.js';
import { LogLines } from '../../logging/log-lines.service.js';
import { RunEnded, type ActiveRun } from './active-runs.service.js';
import { retryOutage } from './outage-retry.js';
import { messageOf } from '../../common/errors/errors.js';

/**
 * Stores the events of runs, many in one statement, fenced by the lease
 * (docs/contract/operations.md#fencing).
 */
@Injectable()
export class EventStore {
  private readonly logger = new Logger('Worker');

  constructor(
    private readonly events: JobEventsRepository,
    private readonly signals: RunSignals,
    private readonly settings: Settings,
    private readonly logs: LogLines,
  ) {}

  /**
   * Stores a batch; events that are already stored do not change. A run that exceeds the event
   * limits is ended, and none of its further events are stored.
   *
   * @throws RunEnded if the lease is lost
   */
  async store(run: ActiveRun, batch: readonly EventRow[]): Promise<void> {
    const { events, excess } = run.events.take(batch, this.settings);
    if (excess !== '') run.fail(excess);
    if (events.length === 0) return;
    const mayWait = () => run.reason !== 'lost' && run.reason !== 'shutdown';
    try {
      await retryOutage(() => this.insert(run, events), mayWait);
    } catch (error) {
      if (error instanceof RunEnded || isTransient(error)) throw error;
      await this.storeOneByOne(run, events);
    }
    const last = events.at(-1);
    if (last) this.signals.announce([[run.id, { counter: last.counter }]]);
    if (this.logs.wants('job_events')) for (const event of events) this.forward(run, event);
  }

  private forward(run: ActiveRun, { dataText: _, created, ...event }: StoredEvent): void {
    const fields = { job: run.id, ...event };
    this.logs.add('job_events', `Event ${event.event} of job ${run.id}`, fields, created);
  }

  /**
   * Stores events one by one, so that an event that the database rejects does not affect the others. A
   * placeholder keeps the position of a rejected event.
   */
  private async storeOneByOne(run: ActiveRun, events: readonly StoredEvent[]): Promise<void> {
    for (const event of events) {
      try {
        await this.insert(run, [event]);
      } catch (error) {
        if (error instanceof RunEnded || isTransient(error)) throw error;
        this.logger.error({
          message: 'event refused',
          run: run.id,
          counter: event.counter,
          reason: messageOf(error),
        });
        await this.insert(run, [
          storedEvent({ ...event, eventData: {}, stdout: '[output could not be stored]' }),
        ]);
      }
    }
  }

  private async insert(run: ActiveRun, events: readonly StoredEvent[]): Promise<void> {
    if (!(await this.events.store(run, events))) throw new RunEnded('The lease is gone.');
  }
}
