import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Batch } from '../batch.js';
import { TooManyRequests } from '../errors/errors.js';
import { entryOf } from '../invariants.js';
import { RedisConnection } from '../queue/redis.js';

const WINDOW_SECONDS = 60;
/** A limit must not cost more than the request it protects. */
const PATIENCE_MS = 250;

interface Use {
  key: string;
  step: 0 | 1;
}

export interface RateState {
  limit: number;
  remaining: number;
  /** Unix time in seconds at which the window ends. */
  reset: number;
}

/**
 * Counts per minute in Redis, shared by all API processes. Without Redis nothing is limited: a
 * limit protects against misuse, it must not turn an outage of Redis into one of the API.
 */
@Injectable()
export class RateLimiter {
  private readonly counting = new Batch((uses: readonly Use[]) => this.countAll(uses));

  constructor(private readonly redis: RedisConnection) {}

  /** Counts one use. @throws TooManyRequests when the window is used up */
  async take(name: string, subject: string, limit: number, response?: Response): Promise<void> {
    const state = await this.count(name, subject, limit, 1);
    if (!state) return;
    if (response) setHeaders(response, state);
    if (state.remaining < 0) throw new TooManyRequests(secondsUntil(state));
  }

  /** Refuses when earlier uses have filled the window, without counting this one. */
  async check(name: string, subject: string, limit: number, response?: Response): Promise<void> {
    const state = await this.count(name, subject, limit, 0);
    if (!state) return;
    if (response) setHeaders(response, state);
    if (state.remaining <= 0) throw new TooManyRequests(secondsUntil(state));
  }

  private async count(
    name: string,
    subject: string,
    limit: number,
    step: 0 | 1,
  ): Promise<RateState | null> {
    const window = Math.floor(Date.now() / 1000 / WINDOW_SECONDS);
    const key = this.redis.key(`rate:${name}:${subject}:${window}`);
    if (this.redis.client.status !== 'ready') return null;
    const counted = this.counting.run({ key, step }).catch(() => null);
    const used = (await Promise.race([counted, patience()])) ?? 0;
    return { limit, remaining: limit - used, reset: (window + 1) * WINDOW_SECONDS };
  }

  /** Uses of the same window are added up here, so that a flood costs Redis little. */
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
 * Null when Redis does not answer in time. An answer that is there already counts, however late a
 * busy process comes to read it: otherwise whoever keeps us busy would not be limited.
 */
const patience = (): Promise<null> =>
  new Promise((resolve) => {
    setTimeout(() => setImmediate(resolve, null), PATIENCE_MS).unref();
  });

const secondsUntil = ({ reset }: RateState): number =>
  Math.max(1, reset - Math.floor(Date.now() / 1000));

/** Tells a client how much of its rate is left. */
function setHeaders(response: Response, { limit, remaining, reset }: RateState): void {
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', Math.max(0, remaining));
  response.setHeader('X-RateLimit-Reset', reset);
}
