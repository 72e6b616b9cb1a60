import { BullModule, getQueueToken } from '@nestjs/bull';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Queue, QueueOptions } from 'bull';
import type { Redis } from 'ioredis';
import { Settings } from '../../config/settings.js';
import { QueuePort, type QueueMessage } from './queue.port.js';
import { QUEUES, QUEUE_NAMES, type QueueName } from './queues.js';
import { RedisConnection } from './redis-connection.service.js';
import { messageOf } from '../errors/message-of.js';

export interface QueueJob {
  subjectId: number;
}

const ADD_TIMEOUT_MS = 2000;
export const WAKE_CHANNEL = 'scheduler:wake';

/**
 * Bull's connections: one for commands and one for events, shared by all queues of the process. Bull does
 * not close connections that it did not open, so `RedisConnection` closes them.
 */
export const bullRoot = BullModule.forRootAsync({
  inject: [Settings, RedisConnection],
  useFactory: (settings: Settings, redis: RedisConnection): QueueOptions => {
    const shared = new Map<string, Redis>();
    const create = (type: string): Redis => {
      // Bull rejects blocking and subscribing connections that limit retries or check readiness.
      const options = { maxRetriesPerRequest: null, enableReadyCheck: false };
      if (type === 'bclient') return redis.connectQuietly(options);
      const found = shared.get(type) ?? redis.connectQuietly(options);
      shared.set(type, found);
      return found;
    };
    return { prefix: settings.QUEUE_PREFIX, createClient: create };
  },
});

/**
 * Registered queues. Import this constant everywhere: a second registration would create a second
 * instance of each queue.
 */
export const bullQueues = BullModule.registerQueue(
  ...QUEUE_NAMES.map((name) => ({
    name,
    settings: { lockDuration: QUEUES[name].lockDurationMs, maxStalledCount: 0 },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  })),
);

/** Adds messages to Bull within a limited time. */
@Injectable()
export class BullQueuePort extends QueuePort implements OnApplicationShutdown {
  private readonly logger = new Logger('Queues');
  private waking: NodeJS.Timeout | undefined;

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly redis: RedisConnection,
  ) {
    super();
  }

  async add(messages: readonly QueueMessage[]): Promise<void> {
    const byQueue = new Map<QueueName, QueueMessage[]>();
    for (const message of messages) {
      byQueue.set(message.queue, [...(byQueue.get(message.queue) ?? []), message]);
    }
    for (const [name, group] of byQueue) {
      const adding = this.queue(name).addBulk(
        group.map(({ subjectId, key }) => ({ data: { subjectId }, opts: { jobId: key } })),
      );
      await this.bounded(adding, name, group.length);
    }
  }

  wakeScheduler(): void {
    this.waking ??= setTimeout(() => {
      this.waking = undefined;
      const published = this.redis.client.publish(this.redis.key(WAKE_CHANNEL), '');
      published.catch(() => undefined);
    }, 5).unref();
  }

  queue(name: QueueName): Queue<QueueJob> {
    return this.moduleRef.get<Queue<QueueJob>>(getQueueToken(name), { strict: false });
  }

  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.waking);
    await Promise.allSettled(QUEUE_NAMES.map((name) => this.close(name)));
  }

  /**
   * Closes a queue and its connections. Bull reconnects its blocking client while it closes, and the open
   * connection would keep the process running.
   */
  private async close(name: QueueName): Promise<void> {
    const queue = this.queue(name);
    await queue.close(true);
    const { clients } = queue as { clients: Redis[] };
    for (const client of clients) client.disconnect();
  }

  /**
   * Limits the wait for Redis. Without Redis `addBulk` stays pending; the sweeper adds the rows once
   * Redis is back.
   */
  private async bounded(adding: Promise<unknown>, name: string, count: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('timed out')), ADD_TIMEOUT_MS).unref();
    });
    try {
      adding.catch(() => undefined);
      await Promise.race([adding, timeout]);
    } catch (error) {
      const reason = messageOf(error);
      this.logger.warn({ message: 'queue not reached', queue: name, count, reason });
    } finally {
      clearTimeout(timer);
    }
  }
}
