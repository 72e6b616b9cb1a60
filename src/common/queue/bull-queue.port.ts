import { BullModule, getQueueOptionsToken, getQueueToken } from '@nestjs/bull';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import Bull, { type Queue, type QueueOptions } from 'bull';
import type { Redis } from 'ioredis';
import { instanceName } from '../../config/job-settings.js';
import { Settings } from '../../config/settings.js';
import { QueuePort, type QueueMessage, QUEUES, QUEUE_NAMES, type QueueName } from './queue.port.js';
import { RedisConnection } from './redis-connection.service.js';
import { messageOf } from '../errors/errors.js';
import { append } from '../records.js';
import { withTimeout } from '../with-timeout.js';

export interface QueueJob {
  subjectId: number;
}

const ADD_TIMEOUT_MS = 2000;
export const WAKE_CHANNEL = 'scheduler:wake';

/**
 * Bull's connections: one for commands and one for events, which all queues of the process share, and one for
 * the blocking commands of each queue. Bull does not close connections that it did not open, so
 * `RedisConnection` closes them.
 */
export const bullRoot = BullModule.forRootAsync({
  inject: [Settings, RedisConnection],
  useFactory: (settings: Settings, redis: RedisConnection): QueueOptions => {
    const shared = new Map<string, Redis>();
    const create = (type: string): Redis => {
      // Bull rejects blocking and subscribing connections that limit retries or check readiness.
      const options = { maxRetriesPerRequest: null, enableReadyCheck: false };
      if (type === 'bclient') return redis.connectQuietly(options);
      const connection = shared.get(type) ?? redis.connectQuietly(options);
      shared.set(type, connection);
      return connection;
    };
    return { prefix: settings.QUEUE_PREFIX, createClient: create };
  },
});

/**
 * Registered queues. Import this constant everywhere: a second registration would create a second
 * instance of each queue.
 */
export const bullQueues = BullModule.registerQueueAsync(
  ...QUEUE_NAMES.map((name) => ({
    name,
    inject: [Settings],
    useFactory: (settings: Settings) => ({
      name: queueNameOn(name, instanceName(settings)),
      settings: { lockDuration: QUEUES[name].lockDurationMs, maxStalledCount: 0 },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    }),
  })),
);

/** Returns Bull's name of a queue, as the processors of an instance use it. */
const queueNameOn = (queue: QueueName, machine: string): string =>
  QUEUES[queue].isPerInstance ? `${queue}@${machine}` : queue;

/** Adds messages to Bull within a limited time. */
@Injectable()
export class BullQueuePort extends QueuePort implements OnApplicationShutdown {
  private readonly logger = new Logger('Queues');
  private wakeTimer: NodeJS.Timeout | undefined;
  /** Queues of other instances, by name. */
  private readonly otherQueues = new Map<string, Queue<QueueJob>>();

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly redis: RedisConnection,
  ) {
    super();
  }

  async add(messages: readonly QueueMessage[]): Promise<void> {
    const byQueue = new Map<Queue<QueueJob>, QueueMessage[]>();
    for (const message of messages) {
      append(byQueue, this.queueOn(message.queue, message.machine), message);
    }
    for (const [queue, group] of byQueue) {
      const adding = queue.addBulk(
        group.map(({ subjectId, key }) => ({ data: { subjectId }, opts: { jobId: key } })),
      );
      await this.waitFor(adding, queue.name, group.length);
    }
  }

  wakeScheduler(): void {
    this.wakeTimer ??= setTimeout(() => {
      this.wakeTimer = undefined;
      const published = this.redis.client.publish(this.redis.key(WAKE_CHANNEL), '');
      published.catch(() => undefined);
    }, 5).unref();
  }

  queue(name: QueueName): Queue<QueueJob> {
    return this.moduleRef.get<Queue<QueueJob>>(getQueueToken(name), { strict: false });
  }

  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.wakeTimer);
    const queues = [...QUEUE_NAMES.map((name) => this.queue(name)), ...this.otherQueues.values()];
    await Promise.allSettled(queues.map((queue) => this.close(queue)));
  }

  private queueOn(queue: QueueName, machine: string | null): Queue<QueueJob> {
    const localQueue = this.queue(queue);
    const name = machine === null ? localQueue.name : queueNameOn(queue, machine);
    if (name === localQueue.name) return localQueue;
    const options = this.moduleRef.get<QueueOptions>(getQueueOptionsToken(queue), {
      strict: false,
    });
    const otherQueue = this.otherQueues.get(name) ?? new Bull<QueueJob>(name, options);
    this.otherQueues.set(name, otherQueue);
    return otherQueue;
  }

  /**
   * Closes a queue and its connections. Bull reconnects its blocking client while it closes, and the open
   * connection would keep the process running.
   */
  private async close(queue: Queue<QueueJob>): Promise<void> {
    await queue.close(true);
    const { clients } = queue as { clients: Redis[] };
    for (const client of clients) client.disconnect();
  }

  /**
   * Limits the wait for Redis. Without Redis `addBulk` stays pending; the sweeper adds the rows once
   * Redis is back.
   */
  private async waitFor(adding: Promise<unknown>, name: string, count: number): Promise<void> {
    try {
      await withTimeout(adding, ADD_TIMEOUT_MS, () => new Error('timed out'));
    } catch (error) {
      this.logger.warn({
        message: 'queue not reachable',
        queue: name,
        count,
        reason: messageOf(error),
      });
    }
  }
}
