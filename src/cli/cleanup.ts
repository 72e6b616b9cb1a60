import { Settings } from '../config/settings.js';
import { openDataSource } from './migrate.js';

/** Rows removed in one statement, so that locks stay short. */
const BATCH = 10_000;

/** What is removed, and after how many days. `$1` is the number of days. */
const RULES = (
  settings: Settings,
): readonly (readonly [table: string, where: string, days: number])[] => [
  [
    'webhook_deliveries',
    `received < now() - make_interval(days => $1)`,
    settings.DELIVERY_RETENTION,
  ],
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
  const source = await openDataSource({ poolSize: 2 });
  try {
    for (const [table, where, days] of RULES(Settings.load(process.env))) {
      let total = 0;
      for (;;) {
        const [, removed] = (await source.query(
          `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${where} LIMIT ${BATCH})`,
          [days],
        )) as [unknown[], number];
        total += removed;
        if (removed < BATCH) break;
      }
      process.stdout.write(`${table}: removed ${total}\n`);
    }
  } finally {
    await source.destroy();
  }
}
