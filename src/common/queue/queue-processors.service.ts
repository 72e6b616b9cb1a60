import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { QueueProcessor } from './queue-processor.js';
import { QUEUE_NAMES } from './queue.port.js';

/** Maximum time to wait for Redis to pause the queues. */
const PAUSE_LIMIT_MS = 1000;

/** Starts and stops all processors of the worker. Each queue has exactly one processor. */
@Injectable()
export class QueueProcessors implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(private readonly discovery: DiscoveryService) {}

  /** @throws Error if a queue has no processor, or more than one */
  onApplicationBootstrap(): void {
    const processors = this.all();
    for (const name of QUEUE_NAMES) {
      const count = processors.filter(({ queueName }) => queueName === name).length;
      if (count !== 1) throw new Error(`Queue ${name} has ${count} processors`);
    }
    for (const processor of processors) processor.start();
  }

  /**
   * Stops taking work and waits for running work, which its handlers finish or interrupt
   * (docs/contract/operations.md#shutdown).
   */
  async onModuleDestroy(): Promise<void> {
    const processors = this.all();
    for (const processor of processors) processor.stop();
    await Promise.race([
      Promise.allSettled(processors.map((processor) => processor.pause())),
      new Promise((resolve) => setTimeout(resolve, PAUSE_LIMIT_MS).unref()),
    ]);
    await Promise.all(processors.map((processor) => processor.idle()));
  }

  private all(): QueueProcessor[] {
    return this.discovery
      .getProviders()
      .map(({ instance }): unknown => instance)
      .filter((instance) => instance instanceof QueueProcessor);
  }
}
