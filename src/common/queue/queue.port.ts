import type { QueueName } from './queues.js';

export interface QueueMessage {
  queue: QueueName;
  subjectId: number;
  key: string;
}

/** The way from a committed outbox row to a worker. */
export abstract class QueuePort {
  /** Adds messages; never throws and never waits longer than two seconds: rows are the truth. */
  abstract add(messages: readonly QueueMessage[]): Promise<void>;
  /** Wakes the scheduler. Calls that come close together become one. */
  abstract wakeScheduler(): void;
}
