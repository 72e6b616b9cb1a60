import { keysOf } from '../records.js';

/** Properties of a queue. All are required, so each new queue must set them. */
export interface QueueProperties {
  /** Time in ms after which Bull considers a job stalled if its process stops renewing the lock. */
  lockDurationMs: number;
  /** Time in seconds after which an unacknowledged outbox row is added to the queue again. */
  redeliverAfterSeconds: number;
  /** True if each instance has a queue of its own, named `<queue>@<instance>`. */
  isPerInstance: boolean;
}

/**
 * All queues. A job carries only the id of an outbox row and the id of its subject; the rows in
 * PostgreSQL determine the work and whether it is still pending
 * (docs/contract/operations.md#reliability).
 */
export const QUEUES = {
  /** Runs that were placed on an instance. */
  runs: { lockDurationMs: 60_000, redeliverAfterSeconds: 15, isPerInstance: true },
  notifications: { lockDurationMs: 30_000, redeliverAfterSeconds: 60, isPerInstance: false },
  status_posts: { lockDurationMs: 30_000, redeliverAfterSeconds: 60, isPerInstance: false },
  /** Rows of large objects that are deleted after the response to the delete request. */
  deletions: { lockDurationMs: 60_000, redeliverAfterSeconds: 60, isPerInstance: false },
} as const satisfies Record<string, QueueProperties>;

export type QueueName = keyof typeof QUEUES;
export const QUEUE_NAMES = keysOf(QUEUES);

export interface QueueMessage {
  queue: QueueName;
  subjectId: number;
  /** Name of the instance that the work is for; null for any. */
  machine: string | null;
  key: string;
}

/** Transport from a committed outbox row to a worker. */
export abstract class QueuePort {
  /**
   * Adds messages. Never throws, and waits at most two seconds for each queue: the outbox rows are
   * authoritative.
   */
  abstract add(messages: readonly QueueMessage[]): Promise<void>;
  /** Wakes the scheduler. Calls in quick succession are merged. */
  abstract wakeScheduler(): void;
}
