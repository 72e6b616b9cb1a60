import { Logger } from '@nestjs/common';
import { OnQueueError } from '@nestjs/bull';
import type { Job, Queue } from 'bull';
import type { QueueJob } from './bull-queue.port.js';
import { stackOf } from '../errors/message-of.js';

/** Does the work of one queue. It must find out from its row whether there still is any. */
export interface QueueHandler {
  handle(subjectId: number): Promise<void>;
  /**
   * Told first at shutdown: finish what runs, or cut it short, within seconds
   * (docs/contract/operations.md#shutdown).
   */
  stop?(): void;
}

/**
 * What the processors of all queues have in common: they hold jobs back until the worker is ready,
 * and keep book of what runs. A handler that throws is logged; its outbox row is delivered again
 * until somebody acknowledges it, so Bull counts every job as done.
 *
 * Bull takes jobs as soon as the modules are made; `QueueProcessors` says when work may begin.
 */
export abstract class QueueProcessor {
  private readonly logger = new Logger('Worker');
  private readonly active = new Set<Promise<void>>();
  private begin: () => void = () => undefined;
  private readonly begun = new Promise<void>((resolve) => {
    this.begin = resolve;
  });

  protected constructor(
    private readonly queue: Queue<QueueJob>,
    private readonly handler: QueueHandler,
  ) {}

  get queueName(): string {
    return this.queue.name;
  }

  /** Lets work begin. */
  start(): void {
    this.begin();
  }

  /** Has what runs finish or be cut short. */
  stop(): void {
    this.handler.stop?.();
  }

  /** Takes no further jobs; other workers go on. */
  async pause(): Promise<void> {
    await this.queue.pause(true, true);
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.active);
  }

  @OnQueueError()
  protected onQueueError({ message: error }: Error): void {
    this.logger.warn({ message: 'queue connection failed', queue: this.queueName, error });
  }

  /** What `@Process` of every processor does with a job. Never fails. */
  protected async work({ data: { subjectId } }: Job<QueueJob>): Promise<void> {
    await this.begun;
    const working = this.attempt(subjectId);
    this.active.add(working);
    await working.finally(() => this.active.delete(working));
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
