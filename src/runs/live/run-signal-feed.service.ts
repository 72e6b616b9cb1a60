import { Injectable, Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { RedisConnection, retryStrategy } from '../../common/queue/redis-connection.service.js';
import { runChannel } from '../run-signals.service.js';

/** Notifies one watcher of possible changes. Holds only a flag, never the changes themselves. */
export class Watch {
  private isDirty = false;
  private wake: (() => void) | undefined;

  /** @param close ends the notifications */
  constructor(readonly close: () => void) {}

  notify(): void {
    this.isDirty = true;
    this.wake?.();
  }

  /**
   * Resolves if there were possible changes since the last call, after `maxWaitMs`, or when `signal` aborts.
   *
   * @returns true if there were possible changes
   */
  async next(maxWaitMs: number, signal: AbortSignal): Promise<boolean> {
    if (!this.isDirty && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, maxWaitMs);
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
    const wasDirty = this.isDirty;
    this.isDirty = false;
    return wasDirty;
  }
}

/** Receives a message; undefined: messages may have been lost. */
type Listener = (message?: string) => void;

/**
 * Forwards messages of workers about runs to the watchers in this process. Uses one Redis
 * connection, subscribed to the watched channels. A message only triggers a database query, so a lost
 * message only causes a delay.
 */
@Injectable()
export class RunSignalFeed {
  private readonly logger = new Logger('Live');
  private readonly channels = new Map<string, Set<Listener>>();
  private connection: Redis | undefined;

  constructor(private readonly redis: RedisConnection) {}

  /** Watches a run until the watch is closed. */
  watch(runId: number): Watch {
    const watch: Watch = new Watch(this.listen(runChannel(runId), () => watch.notify()));
    return watch;
  }

  /**
   * Calls `listener` for each message on a channel.
   *
   * @returns a function that removes the listener
   */
  listen(channel: string, listener: Listener): () => void {
    const key = this.redis.key(channel);
    const listeners = this.channels.get(key) ?? new Set<Listener>();
    listeners.add(listener);
    this.channels.set(key, listeners);
    if (listeners.size === 1) this.send('subscribe', key);
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.channels.delete(key);
      this.send('unsubscribe', key);
    };
  }

  private send(command: 'subscribe' | 'unsubscribe', key: string): void {
    this.connection ??= this.connect();
    this.connection[command](key).catch((error: Error) => {
      this.logger.warn({ message: `${command} failed`, channel: key, reason: error.message });
    });
  }

  /**
   * Connects a client that renews its subscriptions after a reconnect. The listeners are then called
   * without a message, because messages may have been lost.
   */
  private connect(): Redis {
    const connection = this.redis.connectQuietly({
      maxRetriesPerRequest: null,
      retryStrategy,
    });
    connection.on('message', (key: string, message: string) => {
      for (const listener of this.channels.get(key) ?? []) listener(message);
    });
    connection.on('ready', () => {
      for (const listeners of this.channels.values()) for (const listener of listeners) listener();
    });
    return connection;
  }
}
