import { keysOf } from '../records.js';

/** What a queue's jobs are like. Adding a queue without all of it does not compile. */
export interface QueueOptions {
  /** How long Bull lets a job's process be silent before it counts as stalled, in ms. */
  lockDurationMs: number;
  /** After this an outbox row that nobody acknowledged is added again, in seconds. */
  redeliverAfterSeconds: number;
}

/**
 * Every queue. Jobs carry the id of an outbox row and the id of their subject, nothing else: the
 * rows in PostgreSQL say what is to be done and whether it still is
 * (docs/contract/operations.md#reliability).
 */
export const QUEUES = {
  /** A job or project update that was given to the workers. */
  runs: { lockDurationMs: 60_000, redeliverAfterSeconds: 15 },
  notifications: { lockDurationMs: 30_000, redeliverAfterSeconds: 60 },
  status_posts: { lockDurationMs: 30_000, redeliverAfterSeconds: 60 },
  /** Rows of big objects that are removed after their owner was answered. */
  deletions: { lockDurationMs: 60_000, redeliverAfterSeconds: 60 },
} as const satisfies Record<string, QueueOptions>;

export type QueueName = keyof typeof QUEUES;
export const QUEUE_NAMES = keysOf(QUEUES);
