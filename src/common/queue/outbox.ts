import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { insertRows } from '../../database/rows.js';
import { sql, type Sql } from '../../database/sql.js';
import { QueuePort } from './queue.port.js';
import { QUEUES, QUEUE_NAMES, type QueueName } from './queues.js';

interface OutboxRow {
  id: string;
  queue: QueueName;
  subject_id: number;
  attempts: number;
}

const SWEEP_BATCH = 1000;

/** What takes rows off, as part of the statement that ends their work; `ids` selects the subjects. */
export const acknowledged = (queue: QueueName, ids: Sql): Sql => sql`
  DELETE FROM outbox WHERE queue = ${queue} AND subject_id IN (${ids})`;

/** Work that must happen once its cause is committed (docs/contract/operations.md#row-first). */
@Injectable()
export class Outbox {
  constructor(
    private readonly database: Database,
    private readonly queue: QueuePort,
  ) {}

  /**
   * Writes the work in the caller's transaction and wakes a worker after the commit. Losing the
   * wake-up loses nothing: the sweeper finds the row.
   *
   * @param delaySeconds earliest start, by the database's clock
   */
  async add(queue: QueueName, subjectIds: readonly number[], delaySeconds = 0): Promise<void> {
    if (subjectIds.length === 0) return;
    if (delaySeconds > 0) {
      await this.database.execute(sql`
        INSERT INTO outbox (queue, subject_id, run_at)
        SELECT ${queue}, subject, now() + make_interval(secs => ${delaySeconds})
        FROM unnest(${subjectIds}::int[]) AS subject`);
      return;
    }
    const insert = insertRows(
      'outbox',
      { queue: 'text', subject_id: 'integer', enqueued_at: 'timestamptz' },
      subjectIds.map((id) => [queue, id, 'now']),
    );
    const rows = await this.database.rows<OutboxRow>(
      sql`${insert} RETURNING id, queue, subject_id, attempts`,
    );
    this.database.afterCommit(() => void this.queue.add(rows.map(toMessage)));
  }

  /** Takes rows off whose work is done, or is secured by another row of its own. */
  async acknowledge(queue: QueueName, ...subjectIds: readonly number[]): Promise<void> {
    if (subjectIds.length === 0) return;
    await this.database.execute(acknowledged(queue, sql`SELECT unnest(${subjectIds}::int[])`));
  }

  /** Puts the work off until later. */
  async postpone(queue: QueueName, subjectId: number, delaySeconds: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE outbox SET run_at = now() + make_interval(secs => ${delaySeconds}), enqueued_at = NULL
      WHERE queue = ${queue} AND subject_id = ${subjectId}`);
  }

  /** Adds again whatever is due and was not acknowledged in its time. @returns how many rows */
  async sweep(): Promise<number> {
    let added = 0;
    for (const queue of QUEUE_NAMES) {
      const rows = await this.database.rows<OutboxRow>(sql`
        UPDATE outbox SET attempts = attempts + 1, enqueued_at = now()
        WHERE id IN (
          SELECT id FROM outbox
          WHERE queue = ${queue} AND run_at <= now() AND (enqueued_at IS NULL
            OR enqueued_at < now() - make_interval(secs => ${QUEUES[queue].redeliverAfterSeconds}))
          ORDER BY id LIMIT ${SWEEP_BATCH} FOR UPDATE SKIP LOCKED)
        RETURNING id, queue, subject_id, attempts`);
      if (rows.length > 0) await this.queue.add(rows.map(toMessage));
      added += rows.length;
    }
    return added;
  }
}

const toMessage = ({ id, queue, subject_id, attempts }: OutboxRow) => ({
  queue,
  subjectId: subject_id,
  // Bull ignores an id it has seen, so each attempt has one of its own.
  key: `${id}:${attempts}`,
});
