import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import type { WebhookEvent } from '../code-hosts/event.js';
import type { ReceiverTemplate } from './receiver-templates.service.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';

/** Class of the advisory locks on refs, unique in this database. */
const LOCK_CLASS = 7403;

/**
 * Coalesces a burst of pushes into one job (option `webhook_coalesce`): the newest push replaces
 * earlier pushes to the same ref whose jobs have not started.
 */
@Injectable()
export class PushCoalescer {
  /** Promise of the last push of each ref that this process handles. */
  private readonly queues = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
    private readonly deliveries: WebhookDeliveriesRepository,
  ) {}

  /**
   * Runs the transactions of pushes to one ref one after another, so that each transaction sees the
   * job of the previous push. Other deliveries do not wait. Within this process the transactions wait
   * without a database connection; across processes a lock orders them.
   */
  async serialize<T>(
    template: ReceiverTemplate,
    event: WebhookEvent,
    work: () => Promise<T>,
  ): Promise<T> {
    if (!isCoalesced(template, event)) return this.database.transaction(work);
    const key = `${template.id} ${event.pushRef}`;
    const locked = (): Promise<T> =>
      this.database.transaction(async () => {
        await this.database.execute(sql`
          SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${key}))`);
        return work();
      });
    const result = (this.queues.get(key) ?? Promise.resolve()).then(locked);
    const settled = result.then(ignore, ignore);
    this.queues.set(key, settled);
    try {
      return await result;
    } finally {
      if (this.queues.get(key) === settled) this.queues.delete(key);
    }
  }

  /**
   * Cancels pending jobs of earlier pushes and records the replacement in the delivery log. Call it
   * in the transaction that launches the new job.
   */
  async replaceEarlier(
    template: ReceiverTemplate,
    event: WebhookEvent,
    deliveryId: number,
  ): Promise<void> {
    if (!isCoalesced(template, event)) return;
    const { pushRef } = event;
    const waiting = await this.deliveries.waitingPushes(template.id, pushRef);
    if (waiting.length === 0) return;
    const explanation = `Replaced by webhook delivery ${deliveryId}, a newer push to ${pushRef}.`;
    // Does not cancel jobs that the scheduler has already started.
    const replaced = await this.transitions.move(
      waiting.map(({ job_id: id }) => ({ id, explanation })),
      { from: ['pending'], to: 'canceled', isReplaced: true },
    );
    const canceled = new Set(replaced.map(({ id }) => id));
    const ids = waiting.filter((push) => canceled.has(push.job_id)).map((push) => push.delivery_id);
    await this.deliveries.supersede(ids, deliveryId);
  }
}

/** Returns true for a push that can replace earlier pushes. */
export const isCoalesced = (
  { coalesces }: ReceiverTemplate,
  event: WebhookEvent,
): event is WebhookEvent & { pushRef: string } => coalesces && event.pushRef !== null;

const ignore = (): void => undefined;
