import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { JobEventsRepository } from '../runs/events/job-events.repository.js';
import { cleanupDeliveries } from '../webhooks/cleanup-deliveries.js';
import { WebhookDeliveriesRepository } from '../webhooks/webhook-deliveries.repository.js';
import { openDataSource } from './migrate.js';

/** Rows removed in one statement, so that locks stay short. */
const BATCH = 10_000;

/** What is removed by its age alone, and after how many days. `$1` is the number of days. */
const RULES: readonly (readonly [table: string, where: string, days: number])[] = [
  ['sessions', `last_seen < now() - make_interval(days => $1)`, 1],
  ['idempotency_keys', `created < now() - make_interval(days => $1)`, 1],
  ['tokens', `expires < now() - make_interval(days => $1)`, 30],
];

/** Removes what is past its time (settings DELIVERY_RETENTION, EVENT_RETENTION). */
export async function cleanup(): Promise<void> {
  const { DELIVERY_RETENTION, EVENT_RETENTION } = Settings.load(process.env);
  const source = await openDataSource({ poolSize: 2 });
  const database = new Database(source);
  try {
    const deliveries = new WebhookDeliveriesRepository(database);
    const { removed, emptied } = await cleanupDeliveries(deliveries, DELIVERY_RETENTION);
    process.stdout.write(`webhook_deliveries: removed ${removed}, emptied ${emptied}\n`);
    const events = new JobEventsRepository(database);
    await removeAll('job_events', () => events.removeOld(EVENT_RETENTION, BATCH));
    for (const [table, where, days] of RULES) {
      await removeAll(table, () =>
        database.execute({
          text: `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${where} LIMIT ${BATCH})`,
          values: [days],
        }),
      );
    }
  } finally {
    await source.destroy();
  }
}

/** Repeats a removal until it finds less than a batch. */
async function removeAll(table: string, remove: () => Promise<number>): Promise<void> {
  let total = 0;
  for (let removed = BATCH; removed === BATCH; total += removed) removed = await remove();
  process.stdout.write(`${table}: removed ${total}\n`);
}
