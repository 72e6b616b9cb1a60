import { Logger } from '@nestjs/common';
import { OnQueueError } from '@nestjs/bull';
import type { Job, Queue } from 'bull';
import type { QueueJob } from './bull-queue.port.js';
import { stackOf } from '../errors/errors.js';

/** Handler of the jobs of one queue. A handler checks in the database whether there is still work to do. */
export interface QueueHandler {
  handle(subjectId: number): Promise<void>;
  /**
   * Stops running work at shutdown: lets it finish, or interrupts it, within seconds
   * (docs/contract/operations.md#shutdown).
   */
  stop?(): void;
}

/**
 * Base class of the processors of all queues. Holds jobs back until the worker is ready, and tracks the
 * running ones. An error of a handler is logged; its outbox row is redelivered until it is acknowledged,
 * so Bull counts every job as completed.
 *
 * Bull processes jobs as soon as the modules are instantiated; `QueueProcessors` starts the actual work.
 */
export abstract class QueueProcessor {
  private readonly logger = new Logger('Worker');
  private readonly active = new Set<Promise<void>>();
  private markStarted: () => void = () => undefined;
  private readonly started = new Promise<void>((resolve) => {
    this.markStarted = resolve;
  });

  protected constructor(
    private readonly queue: Queue<QueueJob>,
    private readonly handler: QueueHandler,
  ) {}

  /** Name of the queue, without the instance that it belongs to. */
  get queueName(): string {
    return this.queue.name.replace(/@.*$/, '');
  }

  /** Starts processing jobs. */
  start(): void {
    this.markStarted();
  }

  /** Stops running jobs: they finish or are interrupted. */
  stop(): void {
    this.handler.stop?.();
  }

  /** Stops taking jobs from the queue. Other workers continue. */
  async pause(): Promise<void> {
    await this.queue.pause(true, true);
  }

  /** Waits until no job is running. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.active);
  }

  @OnQueueError()
  protected onQueueError({ message: error }: Error): void {
    this.logger.warn({ message: 'queue connection failed', queue: this.queueName, error });
  }

  /** Handles a job for the `@Process` method of every processor. Never throws. */
  protected async work({ data: { subjectId } }: Job<QueueJob>): Promise<void> {
    await this.started;
    const attempt = this.attempt(subjectId);
    this.active.add(attempt);
    await attempt.finally(() => this.active.delete(attempt));
  }

  private async attempt(subjectId: number): Promise<void> {
    try {
      await this.handler.handle(subjectId);
    } catch (error) {
      const text = stackOf(error);
      const queue = this.queueName;
      this.logger.error({ message: 'work failed', queue, subjectId, error: text });
    }
  }
}
