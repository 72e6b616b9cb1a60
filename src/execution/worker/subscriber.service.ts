import { Injectable, Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { RedisConnection, retryStrategy } from '../../common/queue/redis-connection.service.js';

/** Subscribes to Redis channels over one connection, which reconnects when it breaks. */
@Injectable()
export class Subscriber {
  private readonly logger = new Logger('Worker');
  private readonly listeners = new Map<string, (message: string) => void>();
  private connection: Redis | undefined;

  constructor(private readonly redis: RedisConnection) {}

  /**
   * Calls `listener` for messages of a channel. Never throws, because messages only reduce delays.
   */
  listen(channel: string, listener: (message: string) => void): void {
    const key = this.redis.key(channel);
    this.listeners.set(key, listener);
    this.connection ??= this.connect();
    this.connection.subscribe(key).catch((error: Error) => {
      this.logger.warn({ message: 'not subscribed', channel, reason: error.message });
    });
  }

  private connect(): Redis {
    const connection = this.redis.connect({
      maxRetriesPerRequest: null,
      retryStrategy,
    });
    connection.on('message', (key: string, message: string) => this.listeners.get(key)?.(message));
    return connection;
  }
}
