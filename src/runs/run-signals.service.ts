import { Injectable } from '@nestjs/common';
import { RedisConnection } from '../common/queue/redis-connection.service.js';

/** Channel on which workers learn that somebody wants runs canceled; the message is JSON ids. */
export const CANCEL_CHANNEL = 'runs:cancel';

/** Something of a run that a watcher may want to see at once. */
export type RunNews = { status: string } | { counter: number } | { deleted: true };

/** Channel of one run's news, `run:<id>`; messages are JSON `RunNews`. */
export const runChannel = (runId: number): string => `run:${runId}`;

/**
 * Fast lanes through Redis. Everything said here also stands in the database and is found there when
 * a message is lost, so nothing waits for it and nothing fails by it.
 */
@Injectable()
export class RunSignals {
  constructor(private readonly redis: RedisConnection) {}

  /** Tells watchers of runs, in one round trip. */
  announce(news: readonly (readonly [runId: number, news: RunNews])[]): void {
    if (news.length === 0 || this.redis.client.status !== 'ready') return;
    const pipeline = this.redis.client.pipeline();
    for (const [runId, what] of news) {
      pipeline.publish(this.redis.key(runChannel(runId)), JSON.stringify(what));
    }
    pipeline.exec().catch(() => undefined);
  }

  /** Tells the workers to end runs. */
  requestCancel(runIds: readonly number[]): void {
    if (runIds.length === 0 || this.redis.client.status !== 'ready') return;
    this.redis.client
      .publish(this.redis.key(CANCEL_CHANNEL), JSON.stringify(runIds))
      .catch(() => undefined);
  }
}
