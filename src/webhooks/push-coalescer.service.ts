import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import type { WebhookEvent } from '../code-hosts/event.js';
import type { ReceiverTemplate } from './receiver-templates.service.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';

/** Of all users of advisory locks in this database, the refs that are pushed to. */
const LOCK_CLASS = 7403;

/**
 * Makes one job of a burst of pushes (option `webhook_coalesce`): the newest takes the place of those
 * to the same ref whose jobs nobody has begun to work on.
 */
@Injectable()
export class PushCoalescer {
  /** The last push of each ref that is on its way here. */
  private readonly turns = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly transitions: RunTransitions,
    private readonly deliveries: WebhookDeliveriesRepository,
  ) {}

  /**
   * Runs the transactions of pushes to one ref one by one, so that each sees the job of the one before
   * it and has the higher id: within this process without holding a connection meanwhile, among
   * processes by a lock.
   */
  async inTurn<T>(
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
    const turn = (this.turns.get(key) ?? Promise.resolve()).then(locked);
    const over = turn.then(ignore, ignore);
    this.turns.set(key, over);
    try {
      return await turn;
    } finally {
      if (this.turns.get(key) === over) this.turns.delete(key);
    }
  }

  /** Cancels what still waits and notes it in the ledger. In the transaction that launches the new job. */
  async replaceEarlier(
    template: ReceiverTemplate,
    event: WebhookEvent,
    deliveryId: number,
  ): Promise<void> {
    if (!isCoalesced(template, event)) return;
    const { pushRef } = event;
    const waiting = await this.deliveries.waitingPushes(template.id, pushRef);
    if (waiting.length === 0) return;
    const explanation = `Webhook delivery ${deliveryId}, a newer push to ${pushRef}, took its place.`;
    // The scheduler may have been quicker with some of them: those run.
    const replaced = await this.transitions.move(
      waiting.map(({ job_id: id }) => ({ id, explanation })),
      { from: ['pending'], to: 'canceled', isReplaced: true },
    );
    const gone = new Set(replaced.map(({ id }) => id));
    const ids = waiting.filter((one) => gone.has(one.job_id)).map((one) => one.delivery_id);
    await this.deliveries.supersede(ids, deliveryId);
  }
}

/** Whether an event is a push that may take the place of others. */
export const isCoalesced = (
  { coalesces }: ReceiverTemplate,
  event: WebhookEvent,
): event is WebhookEvent & { pushRef: string } => coalesces && event.pushRef !== null;

const ignore = (): void => undefined;
