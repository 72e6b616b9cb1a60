import { Settings } from '../config/settings.js';
import { cleanupDeliveries } from '../webhooks/cleanup-deliveries.js';
import { openDataSource } from './migrate.js';

/** Rows removed in one statement, so that locks stay short. */
const BATCH = 10_000;

/** What is removed, and after how many days. `$1` is the number of days. */
const RULES = (
  settings: Settings,
): readonly (readonly [table: string, where: string, days: number])[] => [
  [
    'job_events',
    `job_id IN (SELECT id FROM unified_jobs WHERE finished < now() - make_interval(days => $1))`,
    settings.EVENT_RETENTION,
  ],
  ['sessions', `last_seen < now() - make_interval(days => $1)`, 1],
  ['idempotency_keys', `created < now() - make_interval(days => $1)`, 1],
  ['tokens', `expires < now() - make_interval(days => $1)`, 30],
];

/** Removes what is past its time (settings DELIVERY_RETENTION, EVENT_RETENTION). */
export async function cleanup(): Promise<void> {
  const settings = Settings.load(process.env);
  const source = await openDataSource({ poolSize: 2 });
  try {
    const { removed, emptied } = await cleanupDeliveries(source, settings.DELIVERY_RETENTION);
    process.stdout.write(`webhook_deliveries: removed ${removed}, emptied ${emptied}\n`);
    for (const [table, where, days] of RULES(settings)) {
      let total = 0;
      for (;;) {
        const [, removed] = await source.query<[unknown[], number]>(
          `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${where} LIMIT ${BATCH})`,
          [days],
        );
        total += removed;
        if (removed < BATCH) break;
      }
      process.stdout.write(`${table}: removed ${total}\n`);
    }
  } finally {
    await source.destroy();
  }
}
