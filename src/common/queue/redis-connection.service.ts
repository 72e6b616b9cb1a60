import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { Settings } from '../../config/settings.js';

/** Returns the delay of a reconnect, in ms. Retries never end: an outage of Redis can take any time. */
export const retryStrategy = (times: number): number => Math.min(times * 100, 2000);

const RETRY_OPTIONS: RedisOptions = {
  retryStrategy,
  enableOfflineQueue: false,
  connectTimeout: 3000,
};

const CONNECTION_OPTIONS: RedisOptions = {
  // Otherwise a worker that waits for work would notice the loss of the machine of Redis after two hours.
  keepAlive: 30_000,
  // After a failover, another connection can reach the new primary.
  reconnectOnError: ({ message }) => message.includes('READONLY'),
};

/** Shared Redis connection for short-lived data: rate limits, wake-ups, live streams. */
@Injectable()
export class RedisConnection implements OnApplicationShutdown {
  private readonly logger = new Logger(RedisConnection.name);
  readonly client: Redis;
  private readonly openClients = new Set<Redis>();
  private stopped = false;

  constructor(private readonly settings: Settings) {
    this.client = this.connect({ ...RETRY_OPTIONS, maxRetriesPerRequest: 1 });
  }

  /** Opens an additional connection, for blocking commands or subscriptions. Closed at shutdown. */
  connect(options: RedisOptions): Redis {
    const client = this.open(options);
    client.on('error', (error: Error) => {
      this.logger.warn({ message: 'redis connection failed', error: error.message });
    });
    return client;
  }

  /**
   * Opens a connection whose errors are not logged: ioredis reconnects, and `/health/ready` reports the
   * outage. Closed at shutdown.
   */
  connectQuietly(options: RedisOptions): Redis {
    return this.open(options).on('error', () => undefined);
  }

  key(name: string): string {
    return `${this.settings.QUEUE_PREFIX}:${name}`;
  }

  /** Sends ids to all listeners of a channel. Messages are an optimization: a lost one does no harm. */
  announce(channel: string, ids: readonly number[]): void {
    if (ids.length === 0 || this.client.status !== 'ready') return;
    this.client.publish(this.key(channel), JSON.stringify(ids)).catch(() => undefined);
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    for (const client of this.openClients) client.disconnect();
  }

  /** Opens a connection and tracks it. Bull reopens connections that it closed to pause a queue. */
  private open(options: RedisOptions): Redis {
    const client = new Redis(this.settings.REDIS_URL, { ...CONNECTION_OPTIONS, ...options });
    const track = (): void => {
      if (this.stopped) client.disconnect();
      else this.openClients.add(client);
    };
    track();
    client.on('connecting', track);
    client.on('end', () => this.openClients.delete(client));
    return client;
  }
}
