import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { insertRows } from '../../database/rows.js';
import { sql, type Sql } from '../../database/sql.js';
import { TableRepository } from '../../database/table-repository.js';
import type { QueueName } from './queues.js';

/** Work that is committed and not done yet. */
export interface OutboxRow {
  id: string;
  queue: QueueName;
  subject_id: number;
  attempts: number;
}

/** A number of a queue. */
export interface QueueSample {
  label: string;
  value: number;
}

/** What takes rows off, as part of the statement that ends their work; `ids` selects the subjects. */
export const acknowledged = (queue: QueueName, ids: Sql): Sql => sql`
  DELETE FROM outbox WHERE queue = ${queue} AND subject_id IN (${ids})`;

/** Whether there is work of a queue about a subject. */
export const isQueued = (queue: QueueName, subject: Sql): Sql => sql`
  EXISTS (SELECT 1 FROM outbox WHERE queue = ${queue} AND subject_id = ${subject})`;

@Injectable()
export class OutboxRepository extends TableRepository<OutboxRow> {
  constructor(database: Database) {
    super(database, 'outbox');
  }

  /** Work that is handed to its queue once it is committed. */
  addDue(queue: QueueName, subjects: readonly number[]): Promise<OutboxRow[]> {
    const insert = insertRows(
      'outbox',
      { queue: 'text', subject_id: 'bigint', enqueued_at: 'timestamptz' },
      subjects.map((id) => [queue, id, 'now']),
    );
    return this.database.rows<OutboxRow>(sql`${insert} RETURNING id, queue, subject_id, attempts`);
  }

  /** Work for later, by the database's clock. */
  async addDelayed(
    queue: QueueName,
    subjects: readonly number[],
    delaySeconds: number,
  ): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO outbox (queue, subject_id, run_at)
      SELECT ${queue}, subject, now() + make_interval(secs => ${delaySeconds})
      FROM unnest(${subjects}::bigint[]) AS subject`);
  }

  /**
   * Work about subjects of which a queue knows nothing; the sweeper hands it on.
   *
   * @param subjects query for the `id`s
   */
  async addMissing(queue: QueueName, subjects: Sql): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO outbox (queue, subject_id)
      SELECT ${queue}, subject.id FROM (${subjects}) subject
      WHERE NOT ${isQueued(queue, sql`subject.id`)}`);
  }

  async acknowledge(queue: QueueName, subjects: readonly number[]): Promise<void> {
    await this.database.execute(acknowledged(queue, sql`SELECT unnest(${subjects}::bigint[])`));
  }

  async postpone(queue: QueueName, subject: number, delaySeconds: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE outbox SET run_at = now() + make_interval(secs => ${delaySeconds}), enqueued_at = NULL
      WHERE queue = ${queue} AND subject_id = ${subject}`);
  }

  /** Takes work that is due and that its queue has not had, or had too long ago, for another attempt. */
  takeDue(queue: QueueName, redeliverAfterSeconds: number, most: number): Promise<OutboxRow[]> {
    return this.database.rows<OutboxRow>(sql`
      UPDATE outbox SET attempts = attempts + 1, enqueued_at = now()
      WHERE id IN (
        SELECT id FROM outbox
        WHERE queue = ${queue} AND run_at <= now() AND (enqueued_at IS NULL
          OR enqueued_at < now() - make_interval(secs => ${redeliverAfterSeconds}))
        ORDER BY id LIMIT ${most} FOR UPDATE SKIP LOCKED)
      RETURNING id, queue, subject_id, attempts`);
  }

  /** How much there is, by queue. */
  countByQueue(): Promise<QueueSample[]> {
    return this.database.rows<QueueSample>(
      sql`SELECT queue AS label, count(*)::int AS value FROM outbox GROUP BY queue`,
    );
  }

  /** For how many seconds the oldest has been due, by queue. */
  secondsDueByQueue(): Promise<QueueSample[]> {
    return this.database.rows<QueueSample>(sql`
      SELECT queue AS label, EXTRACT(epoch FROM now() - min(run_at))::float8 AS value
      FROM outbox WHERE run_at <= now() GROUP BY queue`);
  }
}
