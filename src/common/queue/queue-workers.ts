import {
  Injectable,
  Logger,
  SetMetadata,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import type { Job } from 'bull';
import { Settings } from '../../config/settings.js';
import { BullQueuePort, type QueueJob } from './bull.js';
import { Outbox } from './outbox.js';
import { QUEUES, QUEUE_NAMES, type QueueName } from './queues.js';

const HANDLES = 'controller:handles-queue';
const SWEEP_INTERVAL_MS = 5000;

/** Does the work of one queue. It must find out from its row whether there still is any. */
export interface QueueHandler {
  handle(subjectId: number): Promise<void>;
  /**
   * Told first at shutdown: finish what runs, or cut it short, within seconds
   * (docs/contract/operations.md#shutdown).
   */
  stop?(): void;
}

/** Makes a provider of the worker the handler of a queue; each queue has exactly one. */
export const HandlesQueue = (queue: QueueName): ClassDecorator => SetMetadata(HANDLES, queue);

/**
 * Connects handlers to Bull and runs the sweeper. Only the worker process has it. A handler that
 * throws is logged; its outbox row is delivered again until somebody acknowledges it.
 */
@Injectable()
export class QueueWorkers implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Worker');
  private readonly active = new Set<Promise<void>>();
  private connected: readonly QueueHandler[] = [];
  private sweeping: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(
    private readonly bull: BullQueuePort,
    private readonly outbox: Outbox,
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    const handlers = this.handlers();
    this.connected = [...handlers.values()];
    for (const name of QUEUE_NAMES) {
      const handler = handlers.get(name);
      if (!handler) throw new Error(`Queue ${name} has no handler`);
      this.connect(name, handler);
    }
    this.scheduleSweep(0);
  }

  /**
   * Stops taking work and waits for what is running; its owners cut it short themselves
   * (docs/contract/operations.md#shutdown).
   */
  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    for (const handler of this.connected) handler.stop?.();
    clearTimeout(this.sweeping);
    const pausing = QUEUE_NAMES.map((name) => this.bull.queue(name).pause(true, true));
    await Promise.race([
      Promise.allSettled(pausing),
      new Promise((resolve) => setTimeout(resolve, 1000).unref()),
    ]);
    await Promise.allSettled(this.active);
  }

  private handlers(): Map<QueueName, QueueHandler> {
    const handlers = new Map<QueueName, QueueHandler>();
    for (const { instance, metatype } of this.discovery.getProviders()) {
      if (!instance || !metatype) continue;
      const queue = this.reflector.get<QueueName | undefined>(HANDLES, metatype);
      if (!queue) continue;
      if (handlers.has(queue)) throw new Error(`Queue ${queue} has two handlers`);
      handlers.set(queue, instance as QueueHandler);
    }
    return handlers;
  }

  private connect(name: QueueName, handler: QueueHandler): void {
    const queue = this.bull.queue(name);
    queue.on('error', (error: Error) => {
      this.logger.warn({ message: 'queue connection failed', queue: name, error: error.message });
    });
    const concurrency = QUEUES[name].concurrency ?? this.settings.JOB_CONCURRENCY;
    const processing = queue.process(concurrency, (job: Job<QueueJob>) =>
      this.track(this.run(name, handler, job.data.subjectId)),
    );
    processing.catch((error: unknown) => {
      if (!this.stopping) this.logger.error({ message: 'queue stopped', queue: name, error });
    });
  }

  private async run(name: QueueName, handler: QueueHandler, subjectId: number): Promise<void> {
    try {
      await handler.handle(subjectId);
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.logger.error({ message: 'work failed', queue: name, subjectId, error: text });
    }
  }

  private async track(work: Promise<void>): Promise<void> {
    this.active.add(work);
    await work.finally(() => this.active.delete(work));
  }

  private scheduleSweep(delayMs: number): void {
    this.sweeping = setTimeout(() => {
      void this.track(this.sweep()).finally(() => {
        if (!this.stopping) this.scheduleSweep(SWEEP_INTERVAL_MS);
      });
    }, delayMs);
  }

  private async sweep(): Promise<void> {
    try {
      await this.outbox.sweep();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.warn({ message: 'sweep failed', reason });
    }
  }
}
