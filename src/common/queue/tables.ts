import { defineTable } from '../../database/table.js';

/**
 * Work that must happen after a commit. A row is written in the transaction of its cause and deleted by
 * the worker that did the work; Redis only wakes the workers.
 */
defineTable({
  name: 'outbox',
  columns: {
    id: { type: 'bigint', primary: true, identity: true },
    queue: { type: 'text' },
    /** Id of the row that the work is about. */
    subject_id: { type: 'bigint' },
    run_at: { type: 'timestamp with time zone', default: 'now()' },
    /** Time at which the row was last added to the queue. */
    enqueued_at: { type: 'timestamp with time zone', nullable: true },
    attempts: { type: 'integer', default: '0' },
  },
  indexes: [
    { name: 'outbox_queue_subject_id_idx', columns: ['queue', 'subject_id'] },
    { name: 'outbox_run_at_idx', columns: ['run_at'] },
  ],
});
