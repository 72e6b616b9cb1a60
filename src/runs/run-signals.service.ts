import { Injectable } from '@nestjs/common';
import { RedisConnection } from '../common/queue/redis-connection.service.js';

/** Channel of cancel requests to workers; a message is a JSON list of run ids. */
export const CANCEL_CHANNEL = 'runs:cancel';

/** Channel of status changes of all runs; a message is a JSON list of run ids. */
export const STATUS_CHANNEL = 'runs:status';

/** Channel of changed schedules; a message is a JSON list of their ids. */
export const SCHEDULE_CHANNEL = 'schedules:changed';

/** A change of a run that watchers display immediately. */
export type RunSignal = { status: string } | { counter: number } | { deleted: true };

/** Returns the channel of one run's signals, `run:<id>`; messages are JSON `RunSignal`. */
export const runChannel = (runId: number): string => `run:${runId}`;

/**
 * Sends Redis messages that make other processes react faster. The database contains the same
 * information, so no operation waits for a message or fails because of a lost message.
 */
@Injectable()
export class RunSignals {
  constructor(private readonly redis: RedisConnection) {}

  /** Notifies watchers of runs, in one round trip. */
  announce(signals: readonly (readonly [runId: number, signal: RunSignal])[]): void {
    if (signals.length === 0 || this.redis.client.status !== 'ready') return;
    const pipeline = this.redis.client.pipeline();
    for (const [runId, signal] of signals) {
      pipeline.publish(this.redis.key(runChannel(runId)), JSON.stringify(signal));
    }
    const moved = signals.filter(([, what]) => 'status' in what).map(([runId]) => runId);
    if (moved.length > 0) {
      pipeline.publish(this.redis.key(STATUS_CHANNEL), JSON.stringify(moved));
    }
    pipeline.exec().catch(() => undefined);
  }

  /** Notifies watchers of schedules. */
  announceSchedules(ids: readonly number[]): void {
    this.redis.announce(SCHEDULE_CHANNEL, ids);
  }

  /** Requests the end of runs from the workers. */
  requestCancel(runIds: readonly number[]): void {
    this.redis.announce(CANCEL_CHANNEL, runIds);
  }
}
