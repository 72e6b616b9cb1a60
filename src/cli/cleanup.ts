import { SessionsRepository } from '../auth/sessions.repository.js';
import { TokensRepository } from '../auth/tokens.repository.js';
import { IdempotencyKeysRepository } from '../common/rest/idempotency-keys.repository.js';
import { Settings } from '../config/settings.js';
import type { Database } from '../database/database.js';
import { JobEventsRepository } from '../runs/events/job-events.repository.js';
import { cleanupDeliveries } from '../webhooks/cleanup-deliveries.js';
import { WebhookDeliveriesRepository } from '../webhooks/webhook-deliveries.repository.js';
import { withDatabase } from './migrate.js';

/** Rows removed in one statement, so that locks stay short. */
const BATCH = 10_000;

/** Removes what is past its time (settings DELIVERY_RETENTION, EVENT_RETENTION). */
export async function cleanup(): Promise<void> {
  await withDatabase(removeOld);
}

async function removeOld(database: Database): Promise<void> {
  const { DELIVERY_RETENTION, EVENT_RETENTION } = Settings.load(process.env);
  const deliveries = new WebhookDeliveriesRepository(database);
  const { removed, emptied } = await cleanupDeliveries(deliveries, DELIVERY_RETENTION);
  process.stdout.write(`webhook_deliveries: removed ${removed}, emptied ${emptied}\n`);
  const events = new JobEventsRepository(database);
  await removeAll('job_events', () => events.removeOld(EVENT_RETENTION, BATCH));
  const sessions = new SessionsRepository(database);
  await removeAll('sessions', () => sessions.removeQuiet(1, BATCH));
  const keys = new IdempotencyKeysRepository(database);
  await removeAll('idempotency_keys', () => keys.removeOld(1, BATCH));
  const tokens = new TokensRepository(database);
  await removeAll('tokens', () => tokens.removeExpired(30, BATCH));
}

/** Repeats a removal until it finds less than a batch. */
async function removeAll(table: string, remove: () => Promise<number>): Promise<void> {
  let total = 0;
  for (let removed = BATCH; removed === BATCH; total += removed) removed = await remove();
  process.stdout.write(`${table}: removed ${total}\n`);
}
