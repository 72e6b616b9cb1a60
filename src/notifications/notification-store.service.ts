import { Injectable } from '@nestjs/common';
import { Batch } from '../common/batch.js';
import { Outbox } from '../common/queue/outbox.service.js';
import { Database } from '../database/database.js';
import type {
  Lease,
  AttemptOutcome,
  CompletedAttempt,
  NotificationTarget,
} from './notification-lease.js';
import { NotificationLeasesRepository } from './notification-leases.repository.js';

/**
 * Reads and writes notifications and their attempts for the notifier. Simultaneous requests of many
 * attempts share one statement.
 */
@Injectable()
export class NotificationStore {
  private readonly lookups = new Batch((ids: readonly number[]) => this.findAll(ids));
  private readonly leases = new Batch((ids: readonly number[]) => this.leaseAll(ids));
  private readonly results = new Batch((all: readonly CompletedAttempt[]) => this.settleAll(all));

  constructor(
    private readonly database: Database,
    private readonly rows: NotificationLeasesRepository,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Returns the destination of a notification, with a flag that is true if it is due; undefined for a
   * finished notification. Notifications of one incident are sent in order
   * (docs/decisions/0038-notifications.md).
   */
  find(id: number): Promise<NotificationTarget | undefined> {
    return this.lookups.run(id);
  }

  private async findAll(ids: readonly number[]): Promise<(NotificationTarget | undefined)[]> {
    return inOrder(ids, await this.rows.targets(ids));
  }

  /**
   * Starts an attempt: counts and records it, and ends an earlier attempt of a dead worker. An
   * expired lease identifies such an attempt, because a worker clears the lease when its attempt
   * ends. Returns undefined if another worker has the lease, or if the notification is not due. A
   * message that was rendered for another channel is rendered again.
   */
  lease(id: number): Promise<Lease | undefined> {
    return this.leases.run(id);
  }

  private async leaseAll(ids: readonly number[]): Promise<(Lease | undefined)[]> {
    return inOrder(ids, await this.rows.lease(ids));
  }

  renew(lease: Lease): Promise<void> {
    return this.rows.renew(lease);
  }

  /** Stores the recipients that an attempt has reached so far, so that no later attempt repeats them. */
  async keepDelivered(lease: Lease, recipients: readonly string[]): Promise<void> {
    lease.delivered = [...recipients];
    await this.rows.keepDelivered(lease);
  }

  /**
   * Stores the result of an attempt. If the lease was lost meanwhile, only the row of the attempt
   * changes.
   */
  settle(lease: Lease, outcome: AttemptOutcome): Promise<void> {
    return this.results.run({ lease, outcome });
  }

  private async settleAll(all: readonly CompletedAttempt[]): Promise<void[]> {
    if (all.some(({ outcome }) => outcome.delaySeconds !== null)) {
      await this.database.transaction(async () => {
        const stillLeased = await this.rows.settle(all);
        for (const { lease, outcome } of all) {
          if (outcome.delaySeconds === null || !stillLeased.has(lease.id)) continue;
          await this.outbox.postpone('notifications', lease.id, outcome.delaySeconds);
        }
      });
    } else {
      await this.rows.settle(all);
    }
    return all.map(() => undefined);
  }

  /**
   * Postpones a notification without an attempt. A notification that is postponed for several hours
   * fails, so that it does not block its template forever.
   *
   * @param reason error of a notification without an attempt
   */
  async postpone(id: number, delaySeconds: number, reason: string): Promise<void> {
    await this.database.transaction(async () => {
      const row = await this.rows.postpone(id, delaySeconds, reason);
      if (row?.planned === true) await this.outbox.postpone('notifications', id, delaySeconds);
      if (row?.planned === false) await this.outbox.acknowledge('notifications', id);
    });
  }
}

/** Returns rows in the order of the ids; undefined for a missing row. */
function inOrder<T extends { id: number }>(
  ids: readonly number[],
  rows: readonly T[],
): (T | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}
