import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { TooManyRequests } from '../http/errors.js';
import { RedisConnection } from '../queue/redis.js';

const WINDOW_SECONDS = 60;
/** A limit must not cost more than the request it protects. */
const PATIENCE_MS = 250;

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
    const { client } = this.redis;
    if (client.status !== 'ready') return null;
    const counting = client.multi().incrby(key, step).expire(key, WINDOW_SECONDS).exec();
    const result = await Promise.race([counting, patience()]).catch(() => null);
    const used = Number(result?.[0]?.[1] ?? 0);
    return { limit, remaining: limit - used, reset: (window + 1) * WINDOW_SECONDS };
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

/** The seed's headers (Limits). */
function setHeaders(response: Response, { limit, remaining, reset }: RateState): void {
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', Math.max(0, remaining));
  response.setHeader('X-RateLimit-Reset', reset);
}
