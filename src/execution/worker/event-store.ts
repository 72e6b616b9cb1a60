import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { isPassing } from '../../database/passing-errors.js';
import { sql } from '../../database/sql.js';
import type { EventRow } from '../runner/events.js';
import { RunSignals } from '../../runs/run-signals.service.js';
import { RunEnded, type ActiveRun } from './active-runs.js';
import { patiently } from './patience.js';
import { messageOf } from '../../common/errors/message-of.js';

/**
 * Stores the events of runs, many in one statement, fenced by the lease
 * (docs/contract/operations.md#fencing).
 */
@Injectable()
export class EventStore {
  private readonly logger = new Logger('Worker');

  constructor(
    private readonly database: Database,
    private readonly signals: RunSignals,
  ) {}

  /**
   * Stores a batch; an event that is there already is left as it is.
   *
   * @throws RunEnded when the lease is gone: the run must end
   */
  async store(run: ActiveRun, events: readonly EventRow[]): Promise<void> {
    if (events.length === 0) return;
    const mayWait = () => run.reason !== 'lost' && run.reason !== 'shutdown';
    try {
      await patiently(() => this.insert(run, events), mayWait);
    } catch (error) {
      if (error instanceof RunEnded || isPassing(error)) throw error;
      await this.storeOneByOne(run, events);
    }
    const last = events.at(-1);
    if (last) this.signals.announce([[run.id, { counter: last.counter }]]);
  }

  /** An event the database refuses must not take the others with it; its place is kept. */
  private async storeOneByOne(run: ActiveRun, events: readonly EventRow[]): Promise<void> {
    for (const event of events) {
      try {
        await this.insert(run, [event]);
      } catch (error) {
        if (error instanceof RunEnded || isPassing(error)) throw error;
        const reason = messageOf(error);
        this.logger.error({
          message: 'event refused',
          run: run.id,
          counter: event.counter,
          reason,
        });
        await this.insert(run, [
          { ...event, eventData: {}, stdout: '[output could not be stored]' },
        ]);
      }
    }
  }

  private async insert({ id, attempt }: ActiveRun, events: readonly EventRow[]): Promise<void> {
    const all = <Key extends keyof EventRow>(key: Key) => events.map((event) => event[key]);
    const data = events.map(({ eventData }) => JSON.stringify(eventData));
    const row = await this.database.row<{ is_held: boolean }>(sql`
      WITH lease AS (
        SELECT id, inventory_id FROM unified_jobs
        WHERE id = ${id} AND attempt = ${attempt} AND status = 'running'
      ), stored AS (
        INSERT INTO job_events (job_id, host_id, created, modified, uuid, parent_uuid, counter, event,
          event_display, event_level, failed, changed, host_name, playbook, play, task, role, stdout,
          start_line, end_line, verbosity, event_data)
        SELECT lease.id, host.id, e.created, now(), e.uuid, e.parent_uuid, e.counter, e.event,
          e.event_display, e.event_level, e.failed, e.changed, e.host_name, e.playbook, e.play, e.task,
          e.role, e.stdout, e.start_line, e.end_line, e.verbosity, e.event_data::json
        FROM lease CROSS JOIN unnest(
          ${all('created')}::timestamptz[], ${all('uuid')}::text[], ${all('parentUuid')}::text[],
          ${all('counter')}::int[], ${all('event')}::text[], ${all('eventDisplay')}::text[],
          ${all('eventLevel')}::int[], ${all('failed')}::bool[], ${all('changed')}::bool[],
          ${all('hostName')}::text[], ${all('playbook')}::text[], ${all('play')}::text[],
          ${all('task')}::text[], ${all('role')}::text[], ${all('stdout')}::text[],
          ${all('startLine')}::int[], ${all('endLine')}::int[], ${all('verbosity')}::int[],
          ${data}::text[]
        ) AS e(created, uuid, parent_uuid, counter, event, event_display, event_level, failed, changed,
          host_name, playbook, play, task, role, stdout, start_line, end_line, verbosity, event_data)
        LEFT JOIN hosts host ON e.host_name <> '' AND host.inventory_id = lease.inventory_id
          AND host.name = e.host_name
        ON CONFLICT (job_id, counter) DO NOTHING)
      SELECT EXISTS (SELECT 1 FROM lease) AS is_held`);
    if (!row?.is_held) throw new RunEnded('The lease is gone.');
  }
}
