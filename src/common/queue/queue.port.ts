import type { QueueName } from './queues.js';

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
   * Adds messages. Never throws and never waits longer than two seconds: the outbox rows are
   * authoritative.
   */
  abstract add(messages: readonly QueueMessage[]): Promise<void>;
  /** Wakes the scheduler. Calls in quick succession are merged. */
  abstract wakeScheduler(): void;
}
