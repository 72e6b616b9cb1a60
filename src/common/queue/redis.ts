import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { Settings } from '../../config/settings.js';

/** Retry forever, at most every two seconds: Redis may be away for any time (R8). */
const PATIENT: RedisOptions = {
  retryStrategy: (times) => Math.min(times * 100, 2000),
  enableOfflineQueue: false,
  connectTimeout: 3000,
};

/** The shared Redis connection for short-lived things: rate limits, wake-ups, live streams. */
@Injectable()
export class RedisConnection implements OnApplicationShutdown {
  private readonly logger = new Logger(RedisConnection.name);
  readonly client: Redis;
  private readonly opened = new Set<Redis>();

  constructor(private readonly settings: Settings) {
    this.client = this.connect({ ...PATIENT, maxRetriesPerRequest: 1 });
  }

  /** A further connection, for blocking use or subscriptions. Closed at shutdown. */
  connect(options: RedisOptions): Redis {
    const client = this.open(options);
    client.on('error', (error: Error) => {
      this.logger.warn({ message: 'redis connection failed', error: error.message });
    });
    return client;
  }

  /**
   * A connection whose losses others tell of: ioredis tries again, `/health/ready` shows it. Closed
   * at shutdown.
   */
  connectQuietly(options: RedisOptions): Redis {
    return this.open(options).on('error', () => undefined);
  }

  private open(options: RedisOptions): Redis {
    const client = new Redis(this.settings.REDIS_URL, options);
    this.opened.add(client);
    client.once('end', () => this.opened.delete(client));
    return client;
  }

  key(name: string): string {
    return `${this.settings.QUEUE_PREFIX}:${name}`;
  }

  onApplicationShutdown(): void {
    for (const client of this.opened) client.disconnect();
  }
}
