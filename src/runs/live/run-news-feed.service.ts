import { Injectable, Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { RedisConnection } from '../../common/queue/redis-connection.service.js';
import { runChannel } from '../run-signals.service.js';

/** Notifies one watcher of possible changes. Holds only a flag, never the changes themselves. */
export class Watch {
  private isDirty = false;
  private wake: (() => void) | undefined;

  constructor(private readonly release: (watch: Watch) => void) {}

  ring(): void {
    this.isDirty = true;
    this.wake?.();
  }

  /** Resolves if there were possible changes since the last call, or after `patienceMs`. */
  async next(patienceMs: number, signal: AbortSignal): Promise<void> {
    if (!this.isDirty && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, patienceMs);
        function done(): void {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          resolve();
        }
        signal.addEventListener('abort', done);
        this.wake = done;
      });
      this.wake = undefined;
    }
    this.isDirty = false;
  }

  close(): void {
    this.release(this);
  }
}

/**
 * Forwards messages of workers about runs to the watchers in this process. Uses one Redis
 * connection, subscribed to the watched runs. A message only triggers a database query, so a lost
 * message only causes a delay.
 */
@Injectable()
export class RunNewsFeed {
  private readonly logger = new Logger('Live');
  private readonly watches = new Map<string, Set<Watch>>();
  private connection: Redis | undefined;

  constructor(private readonly redis: RedisConnection) {}

  /** Watches a run until the watch is closed. */
  watch(runId: number): Watch {
    const key = this.redis.key(runChannel(runId));
    const watches = this.watches.get(key) ?? new Set<Watch>();
    const watch = new Watch((one) => this.release(key, one));
    watches.add(watch);
    this.watches.set(key, watches);
    if (watches.size === 1) this.tell('subscribe', key);
    return watch;
  }

  private release(key: string, watch: Watch): void {
    const watches = this.watches.get(key);
    if (!watches?.delete(watch) || watches.size > 0) return;
    this.watches.delete(key);
    this.tell('unsubscribe', key);
  }

  private tell(command: 'subscribe' | 'unsubscribe', key: string): void {
    this.connection ??= this.connect();
    this.connection[command](key).catch((error: Error) => {
      this.logger.warn({ message: `${command} failed`, channel: key, reason: error.message });
    });
  }

  /**
   * The client renews its subscriptions after a reconnect; every watcher then checks for changes
   * that it missed.
   */
  private connect(): Redis {
    const connection = this.redis.connectQuietly({
      maxRetriesPerRequest: null,
      retryStrategy: (times) => Math.min(times * 100, 2000),
    });
    connection.on('message', (key: string) => {
      for (const watch of this.watches.get(key) ?? []) watch.ring();
    });
    connection.on('ready', () => {
      for (const watches of this.watches.values()) for (const watch of watches) watch.ring();
    });
    return connection;
  }
}
