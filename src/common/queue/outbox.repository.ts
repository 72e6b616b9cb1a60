import { Injectable } from '@nestjs/common';
import { sql, type Sql } from '../../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../../database/repository.js';
import type { QueueName } from './queue.port.js';
import { OutboxEntry } from './outbox-entry.entity.js';

/** Committed work that is not done yet. */
export interface OutboxRow {
  id: string;
  queue: QueueName;
  subject_id: number;
  /** Name of the instance that the work is for; null for any. */
  machine: string | null;
  attempts: number;
}

/**
 * Returns the statement that acknowledges work, to be part of the statement that completes the work.
 * `ids` selects the subjects.
 */
export const acknowledgement = (queue: QueueName, ids: Sql): Sql => sql`
  DELETE FROM outbox WHERE queue = ${queue} AND subject_id IN (${ids})`;

/** Returns the SQL condition that a queue contains work for a subject. */
export const isQueued = (queue: QueueName, subject: Sql): Sql => sql`
  EXISTS (SELECT 1 FROM outbox WHERE queue = ${queue} AND subject_id = ${subject})`;

/** Names of the instances that must do the work, by the id of its subject; any instance if absent. */
export type Machines = ReadonlyMap<number, string>;

@Injectable()
export class OutboxRepository extends TableRepository<OutboxRow> {
  constructor(@InjectRepository(OutboxEntry) repository: Repository<OutboxEntry>) {
    super(repository);
  }

  /** Adds work that the caller passes to its queue after the commit. */
  async addDue(
    queue: QueueName,
    ids: readonly number[],
    machines?: Machines,
  ): Promise<OutboxRow[]> {
    if (ids.length === 0) return [];
    const insert = this.insertion(
      ids.map((id) => ({
        queue,
        subject_id: id,
        machine: machines?.get(id) ?? null,
        enqueued_at: 'now',
      })),
    );
    return this.database.rows<OutboxRow>(
      sql`${insert} RETURNING id, queue, subject_id, machine, attempts`,
    );
  }

  /**
   * Adds work for the subjects that have none in the queue, and removes the work of all other subjects. The
   * sweeper passes the work to the queue.
   *
   * @param subjects query for the `id` and the `machine` of each subject
   */
  async reconcile(queue: QueueName, subjects: Sql): Promise<void> {
    await this.database.execute(sql`
      WITH obsolete AS (
        DELETE FROM outbox WHERE queue = ${queue}
          AND subject_id NOT IN (SELECT subject.id FROM (${subjects}) subject))
      INSERT INTO outbox (queue, subject_id, machine)
      SELECT ${queue}, subject.id, subject.machine FROM (${subjects}) subject
      WHERE NOT ${isQueued(queue, sql`subject.id`)}`);
  }

  async acknowledge(queue: QueueName, subjects: readonly number[]): Promise<void> {
    await this.database.execute(acknowledgement(queue, sql`SELECT unnest(${subjects}::bigint[])`));
  }

  async postpone(queue: QueueName, subject: number, delaySeconds: number): Promise<void> {
    await this.database.execute(sql`
      UPDATE outbox SET run_at = now() + make_interval(secs => ${delaySeconds}), enqueued_at = NULL
      WHERE queue = ${queue} AND subject_id = ${subject}`);
  }

  /**
   * Claims due work for another attempt: work that was never added to its queue, or was added more than
   * `redeliverAfterSeconds` ago.
   */
  takeDue(queue: QueueName, redeliverAfterSeconds: number, limit: number): Promise<OutboxRow[]> {
    return this.database.rows<OutboxRow>(sql`
      UPDATE outbox SET attempts = attempts + 1, enqueued_at = now()
      WHERE id IN (
        SELECT id FROM outbox
        WHERE queue = ${queue} AND run_at <= now() AND (enqueued_at IS NULL
          OR enqueued_at < now() - make_interval(secs => ${redeliverAfterSeconds}))
        ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING id, queue, subject_id, machine, attempts`);
  }

  countByQueue(): Promise<{ label: string; value: number }[]> {
    return this.database.rows(
      sql`SELECT queue AS label, count(*)::int AS value FROM outbox GROUP BY queue`,
    );
  }

  /** Returns the time in seconds for which the oldest row has been due, by queue. */
  secondsDueByQueue(): Promise<{ label: string; value: number }[]> {
    return this.database.rows(sql`
      SELECT queue AS label, EXTRACT(epoch FROM now() - min(run_at))::float8 AS value
      FROM outbox WHERE run_at <= now() GROUP BY queue`);
  }
}
