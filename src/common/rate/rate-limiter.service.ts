import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Batch } from '../batch.js';
import { TooManyRequests } from '../errors/errors.js';
import { entryOf } from '../invariants.js';
import { RedisConnection } from '../queue/redis-connection.service.js';

const WINDOW_SECONDS = 60;
/** Maximum time to wait for Redis: a rate limit must not cost more than the request that it protects. */
const MAX_WAIT_MS = 250;

interface Use {
  key: string;
  step: 1 | -1;
}

/** Counted use with the key that counts it. */
interface Counted {
  key: string;
  state: RateState;
}

export interface RateState {
  limit: number;
  remaining: number;
  /** Unix time in seconds at which the window ends. */
  reset: number;
}

/**
 * Limits rates per minute with counters in Redis that all API processes share. Without Redis nothing is
 * limited: a rate limit protects against misuse, and must not turn an outage of Redis into an outage of
 * the API.
 */
@Injectable()
export class RateLimiter {
  private readonly counts = new Batch((uses: readonly Use[]) => this.countAll(uses));

  constructor(private readonly redis: RedisConnection) {}

  /**
   * Counts one use.
   *
   * @returns a function that reverts the count, for uses that turn out not to count
   * @throws TooManyRequests if the limit of the window is reached
   */
  async take(
    name: string,
    subject: string,
    limit: number,
    response?: Response,
  ): Promise<() => void> {
    const counted = await this.count(name, subject, limit);
    if (!counted) return () => undefined;
    const { key, state } = counted;
    if (response) setHeaders(response, state);
    if (state.remaining < 0) throw new TooManyRequests(secondsUntil(state));
    // If reverting fails, the count expires with its window.
    return () => void this.counts.run({ key, step: -1 }).catch(() => undefined);
  }

  private async count(name: string, subject: string, limit: number): Promise<Counted | null> {
    const window = Math.floor(Date.now() / 1000 / WINDOW_SECONDS);
    const key = this.redis.key(`rate:${name}:${subject}:${window}`);
    if (this.redis.client.status !== 'ready') return null;
    const counted = this.counts.run({ key, step: 1 }).catch(() => null);
    const used = (await Promise.race([counted, timeout()])) ?? 0;
    const reset = (window + 1) * WINDOW_SECONDS;
    return { key, state: { limit, remaining: limit - used, reset } };
  }

  /** Adds up uses of the same window, so that a flood of requests causes few commands in Redis. */
  private async countAll(uses: readonly Use[]): Promise<number[]> {
    const totals = new Map<string, number>();
    for (const { key, step } of uses) totals.set(key, (totals.get(key) ?? 0) + step);
    const transaction = this.redis.client.multi();
    for (const [key, total] of totals) transaction.incrby(key, total).expire(key, WINDOW_SECONDS);
    const results = (await transaction.exec()) ?? [];
    const used = new Map<string, number>();
    [...totals].forEach(([key, total], index) => {
      used.set(key, Number(results[2 * index]?.[1] ?? 0) - total);
    });
    return uses.map(({ key, step }) => {
      const now = entryOf(used, key) + step;
      used.set(key, now);
      return now;
    });
  }
}

/**
 * Returns null if Redis does not reply in time. A reply that has already arrived counts, however late a
 * busy process reads it: otherwise a client that keeps the process busy would not be limited.
 */
const timeout = (): Promise<null> =>
  new Promise((resolve) => {
    setTimeout(() => setImmediate(resolve, null), MAX_WAIT_MS).unref();
  });

const secondsUntil = ({ reset }: RateState): number =>
  Math.max(1, reset - Math.floor(Date.now() / 1000));

/** Sets the headers that show a client its remaining rate. */
function setHeaders(response: Response, { limit, remaining, reset }: RateState): void {
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', Math.max(0, remaining));
  response.setHeader('X-RateLimit-Reset', reset);
}
