import { NestFactory } from '@nestjs/core';
import { IdempotencyKeysRepository } from '../common/rest/idempotency-keys.repository.js';
import { Settings } from '../config/settings.js';
import { FeaturesModule } from '../features.module.js';
import { HostMetricsRepository } from '../host-metrics/host-metrics.repository.js';
import { MonthlyHostMetricsRepository } from '../host-metrics/monthly-host-metrics.repository.js';
import { EventPartitionsRepository } from '../runs/events/event-partitions.repository.js';
import { JobEventsRepository } from '../runs/events/job-events.repository.js';
import { Cleanups, inBatches, sumOfBatches } from '../system-jobs/cleanups.js';

/** Retention of host metrics in months, after the host's last job and after its deletion. */
const HOST_METRICS = { inactive: 12, deleted: 36 };

/** Deletes data past its retention: deliveries, sessions, tokens, events, stored requests, host metrics. */
export async function cleanup(): Promise<void> {
  // Dropping a partition can take longer than the timeout of API requests.
  process.env.STATEMENT_TIMEOUT_MS = '3600000';
  const app = await NestFactory.createApplicationContext(FeaturesModule, { logger: ['error'] });
  const find = <T>(type: abstract new (...args: never[]) => T): T =>
    app.get(type, { strict: false });
  try {
    const cleanups = find(Cleanups);
    for (const [kind, days] of [
      ['cleanup_webhook_deliveries', null],
      ['cleanup_sessions', null],
      ['cleanup_tokens', 30],
    ] as const) {
      const { objects, batches } = cleanups.of(kind, days);
      await report(objects, batches());
    }
    const { EVENT_RETENTION } = find(Settings);
    const [partitions, events] = [find(EventPartitionsRepository), find(JobEventsRepository)];
    for (
      let dropped: number | null;
      (dropped = await partitions.dropOld(EVENT_RETENTION)) !== null;
    ) {
      process.stdout.write(`job events: dropped a partition with ${dropped}\n`);
    }
    await report(
      'job events',
      inBatches((limit) => events.removeOld(EVENT_RETENTION, limit)),
    );
    const keys = find(IdempotencyKeysRepository);
    await report(
      'idempotency keys',
      inBatches((limit) => keys.removeOld(1, limit)),
    );
    // Counts the months first, because deleted rows no longer count.
    await find(MonthlyHostMetricsRepository).recount();
    const metrics = find(HostMetricsRepository);
    await sumOfBatches(inBatches((limit) => metrics.markInactive(HOST_METRICS.inactive, limit)));
    const { deleted } = HOST_METRICS;
    await report(
      'host metrics',
      inBatches((limit) => metrics.removeDeleted(deleted, limit)),
    );
  } finally {
    await app.close();
  }
}

async function report(objects: string, batches: AsyncIterable<number>): Promise<void> {
  process.stdout.write(`${objects}: removed ${await sumOfBatches(batches)}\n`);
}
