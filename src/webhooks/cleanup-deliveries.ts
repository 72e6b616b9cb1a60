/** Rows changed by one statement, so that locks stay short. */
const BATCH = 1000;

/** Anything that runs SQL with `$1` parameters and answers its rows. */
export interface SqlRunner {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/** How many deliveries were removed, and how many lost their payload. */
export interface DeliveryCleanup {
  removed: number;
  emptied: number;
}

/**
 * Removes deliveries older than `days` (setting `DELIVERY_RETENTION`). The delivery of a job that
 * still exists keeps its small facts, which the job's variables are made of, and loses its payload
 * once no job of it is active.
 */
export async function cleanupDeliveries(
  database: SqlRunner,
  days: number,
): Promise<DeliveryCleanup> {
  const removed = await inBatches(
    database,
    days,
    (old) => `
    WITH gone AS (
      DELETE FROM webhook_deliveries WHERE id IN (
        SELECT del.id FROM webhook_deliveries del
        WHERE ${old} AND NOT EXISTS (
          SELECT 1 FROM unified_jobs run WHERE run.webhook_delivery_id = del.id)
        LIMIT ${BATCH})
      RETURNING 1)
    SELECT count(*)::int AS changed FROM gone`,
  );
  const emptied = await inBatches(
    database,
    days,
    (old) => `
    WITH emptied AS (
      UPDATE webhook_deliveries SET payload = NULL WHERE id IN (
        SELECT del.id FROM webhook_deliveries del
        WHERE ${old} AND del.payload IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM unified_jobs run
          WHERE run.webhook_delivery_id = del.id AND run.finished IS NULL)
        LIMIT ${BATCH})
      RETURNING 1)
    SELECT count(*)::int AS changed FROM emptied`,
  );
  return { removed, emptied };
}

async function inBatches(
  database: SqlRunner,
  days: number,
  statement: (old: string) => string,
): Promise<number> {
  const text = statement('del.received < now() - make_interval(days => $1::int)');
  for (let total = 0; ;) {
    const [row] = (await database.query(text, [days])) as [{ changed: number }];
    total += row.changed;
    if (row.changed < BATCH) return total;
  }
}
