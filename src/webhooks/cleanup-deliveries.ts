import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
/** Maximum number of rows per statement, so that locks stay short. */
const BATCH = 1000;

/** Number of removed deliveries, and of deliveries that lost their payload. */
export interface DeliveryCleanup {
  removed: number;
  emptied: number;
}

/**
 * Deletes deliveries older than `days` (setting `DELIVERY_RETENTION`). The delivery of a job that
 * still exists keeps its small fields, which are the source of the job's variables, and loses its
 * payload once no job of it is active.
 */
export async function cleanupDeliveries(
  deliveries: WebhookDeliveriesRepository,
  days: number,
): Promise<DeliveryCleanup> {
  const removed = await inBatches(() => deliveries.removeOld(days, BATCH));
  const emptied = await inBatches(() => deliveries.emptyOld(days, BATCH));
  return { removed, emptied };
}

async function inBatches(change: () => Promise<number>): Promise<number> {
  for (let total = 0; ;) {
    const changed = await change();
    total += changed;
    if (changed < BATCH) return total;
  }
}
