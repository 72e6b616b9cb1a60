import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import type { Sql } from '../../database/sql.js';
import { OutboxRepository, type Machines, type OutboxRow } from './outbox.repository.js';
import { QueuePort, QUEUES, QUEUE_NAMES, type QueueName } from './queue.port.js';

const SWEEP_BATCH = 1000;

/** Work that must happen after its cause is committed (docs/contract/operations.md#row-first). */
@Injectable()
export class Outbox {
  constructor(
    private readonly database: Database,
    private readonly rows: OutboxRepository,
    private readonly queue: QueuePort,
  ) {}

  /**
   * Writes the work in the caller's transaction and wakes a worker after the commit. A lost wake-up does
   * no harm: the sweeper finds the row.
   *
   * @param machines name of the instance that must do the work, by id; any instance if absent
   */
  async add(queue: QueueName, ids: readonly number[], machines?: Machines): Promise<void> {
    if (ids.length === 0) return;
    const rows = await this.rows.addDue(queue, ids, machines);
    this.database.afterCommit(() => void this.queue.add(rows.map(toMessage)));
  }

  /**
   * Adds lost work again, and removes work that is no longer needed: the instance that would acknowledge it can
   * be gone. The sweeper passes the work to the queue.
   *
   * @param subjects query for the `id` and the `machine` of the subjects that should be queued
   */
  reconcile(queue: QueueName, subjects: Sql): Promise<void> {
    return this.rows.reconcile(queue, subjects);
  }

  /** Deletes rows whose work is done, or is continued by another row. */
  async acknowledge(queue: QueueName, ...subjectIds: readonly number[]): Promise<void> {
    if (subjectIds.length > 0) await this.rows.acknowledge(queue, subjectIds);
  }

  postpone(queue: QueueName, subjectId: number, delaySeconds: number): Promise<void> {
    return this.rows.postpone(queue, subjectId, delaySeconds);
  }

  /**
   * Adds due work that was not acknowledged in time to its queue again, up to `SWEEP_BATCH` rows per queue.
   *
   * @returns the number of rows
   */
  async sweep(): Promise<number> {
    let added = 0;
    for (const queue of QUEUE_NAMES) {
      const { redeliverAfterSeconds } = QUEUES[queue];
      const rows = await this.rows.takeDue(queue, redeliverAfterSeconds, SWEEP_BATCH);
      if (rows.length > 0) await this.queue.add(rows.map(toMessage));
      added += rows.length;
    }
    return added;
  }
}

const toMessage = ({ id, queue, subject_id, machine, attempts }: OutboxRow) => ({
  queue,
  machine,
  subjectId: subject_id,
  // Bull ignores an id that it has already processed, so each attempt has its own id.
  key: `${id}:${attempts}`,
});
