import { Column, Entity, Index } from 'typeorm';
import { GeneratedId, now } from '../../database/table.js';
import type { QueueName } from './queue.port.js';

/**
 * Work that must happen after a commit. A row is written in the transaction of its cause and deleted by
 * the worker that did the work; Redis only wakes the workers.
 */
@Entity('outbox')
@Index('outbox_queue_subject_id_idx', ['queue', 'subject_id'])
export class OutboxEntry {
  @GeneratedId('bigint')
  id!: string;

  @Column('text')
  queue!: QueueName;

  /** Id of the row that the work is about. */
  @Column('bigint')
  subject_id!: number;

  @Column({ type: 'timestamp with time zone', default: now })
  @Index()
  run_at!: string;

  /** Name of the instance that the work is for; null for any. */
  @Column({ type: 'text', nullable: true })
  machine!: string | null;

  /** Time at which the row was last added to the queue. */
  @Column({ type: 'timestamp with time zone', nullable: true })
  enqueued_at!: string | null;

  @Column({ type: 'integer', default: 0 })
  attempts!: number;
}
