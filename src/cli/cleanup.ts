import { SessionsRepository } from '../auth/sessions.repository.js';
import { TokensRepository } from '../auth/tokens.repository.js';
import { IdempotencyKeysRepository } from '../common/rest/idempotency-keys.repository.js';
import { Settings } from '../config/settings.js';
import type { Database } from '../database/database.js';
import { HostMetricsRepository } from '../host-metrics/host-metrics.repository.js';
import { MonthlyHostMetricsRepository } from '../host-metrics/monthly-host-metrics.repository.js';
import { EventPartitionsRepository } from '../runs/events/event-partitions.repository.js';
import { JobEventsRepository } from '../runs/events/job-events.repository.js';
import { cleanupDeliveries } from '../webhooks/cleanup-deliveries.js';
import { WebhookDeliveriesRepository } from '../webhooks/webhook-deliveries.repository.js';
import { withDatabase } from './migrate.js';
import { JobEvent } from '../runs/events/job-event.entity.js';
import { Token } from '../auth/token.entity.js';
import { MonthlyHostMetric, HostMetric } from '../host-metrics/host-metric.entity.js';
import { WebhookDelivery } from '../webhooks/webhook-delivery.entity.js';
import { Session } from '../auth/session.entity.js';
import { IdempotencyKey } from '../common/rest/idempotency-key.entity.js';

/** Maximum number of rows per statement, so that locks are short. */
const BATCH = 10_000;

/** Retention of host metrics in months, after the host's last job and after its deletion. */
const HOST_METRICS = { quiet: 12, deleted: 36 };

/** Deletes data past its retention (settings DELIVERY_RETENTION, EVENT_RETENTION). */
export async function cleanup(): Promise<void> {
  await withDatabase(removeOld);
}

async function removeOld(database: Database): Promise<void> {
  const { DELIVERY_RETENTION, EVENT_RETENTION } = Settings.load(process.env);
  const deliveries = new WebhookDeliveriesRepository(
    database.manager.getRepository(WebhookDelivery),
  );
  const { removed, emptied } = await cleanupDeliveries(deliveries, DELIVERY_RETENTION);
  process.stdout.write(`webhook_deliveries: removed ${removed}, emptied ${emptied}\n`);
  await removeEvents(database, EVENT_RETENTION);
  const sessions = new SessionsRepository(database.manager.getRepository(Session));
  await removeAll('sessions', () => sessions.removeQuiet(1, BATCH));
  const keys = new IdempotencyKeysRepository(database.manager.getRepository(IdempotencyKey));
  await removeAll('idempotency_keys', () => keys.removeOld(1, BATCH));
  const tokens = new TokensRepository(database.manager.getRepository(Token));
  await removeAll('tokens', () => tokens.removeExpired(30, BATCH));
  await cleanUpHostMetrics(database);
}

/** Drops partitions that are entirely old, and deletes old rows from the others. */
async function removeEvents(database: Database, days: number): Promise<void> {
  const partitions = new EventPartitionsRepository(database.manager.getRepository(JobEvent));
  for (let dropped: number | null; (dropped = await partitions.dropOld(days)) !== null;) {
    process.stdout.write(`job_events: dropped a partition with ${dropped}\n`);
  }
  const events = new JobEventsRepository(database.manager.getRepository(JobEvent));
  await removeAll('job_events', () => events.removeOld(days, BATCH));
}

/** Counts the months first, because deleted rows no longer count. */
async function cleanUpHostMetrics(database: Database): Promise<void> {
  await new MonthlyHostMetricsRepository(
    database.manager.getRepository(MonthlyHostMetric),
  ).recount();
  const metrics = new HostMetricsRepository(database.manager.getRepository(HostMetric));
  await repeat(() => metrics.markQuiet(HOST_METRICS.quiet, BATCH));
  await removeAll('host_metrics', () => metrics.removeDeleted(HOST_METRICS.deleted, BATCH));
}

async function removeAll(table: string, remove: () => Promise<number>): Promise<void> {
  process.stdout.write(`${table}: removed ${await repeat(remove)}\n`);
}

/**
 * Repeats a statement until it changes fewer rows than a batch.
 *
 * @returns the number of changed rows
 */
async function repeat(change: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let changed = BATCH; changed === BATCH; total += changed) changed = await change();
  return total;
}
