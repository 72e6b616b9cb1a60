import type { Database } from '../../src/database/database.js';
import { eventually } from './eventually.js';

/**
 * Runs `first` and `last` in one transaction, and `other` between them, outside of it. The transaction
 * continues when `other` has ended or waits for a lock.
 */
export async function interleave<T>(
  database: Database,
  [first, other, last]: [
    first: () => Promise<T>,
    other: () => Promise<unknown>,
    last: (result: T) => Promise<unknown>,
  ],
): Promise<void> {
  let pause = (): void => undefined;
  let resume = (): void => undefined;
  const hasPaused = new Promise<void>((resolve) => (pause = resolve));
  const mayResume = new Promise<void>((resolve) => (resume = resolve));
  const transaction = database.transaction(async () => {
    const result = await first();
    pause();
    await mayResume;
    await last(result);
  });
  await Promise.race([transaction, hasPaused]);
  const others = other();
  await endedOrWaiting(database, others);
  resume();
  await Promise.all([transaction, others]);
}

/** Resolves when `work` has ended or waits for a lock. */
export async function endedOrWaiting(database: Database, work: Promise<unknown>): Promise<void> {
  // The pool of a test can have as few as two connections.
  const isWaiting = database.withClient((client) =>
    eventually(async () => {
      const { rows } = await client.query(`
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      if (rows.length === 0) throw new Error('Nothing waits for a lock');
    }),
  );
  // Rejects later if nothing waits.
  isWaiting.catch(() => undefined);
  await Promise.race([work, isWaiting]);
}
