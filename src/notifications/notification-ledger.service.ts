import { Injectable } from '@nestjs/common';
import { Batch } from '../common/batch.js';
import { Outbox } from '../common/queue/outbox.service.js';
import { Database } from '../database/database.js';
import type { Lease, Outcome, Settlement, Target } from './notification-lease.js';
import { NotificationLeasesRepository } from './notification-leases.repository.js';

/**
 * The rows of notifications and their attempts, as the notifier writes them. What many attempts
 * want at the same time is done in one statement for all of them.
 */
@Injectable()
export class NotificationLedger {
  private readonly finding = new Batch((ids: readonly number[]) => this.findAll(ids));
  private readonly leasing = new Batch((ids: readonly number[]) => this.leaseAll(ids));
  private readonly settling = new Batch((all: readonly Settlement[]) => this.settleAll(all));

  constructor(
    private readonly database: Database,
    private readonly rows: NotificationLeasesRepository,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Where a notification goes and whether it is its turn; undefined when nothing of it is to be sent
   * any more. What opens and resolves one incident goes out in order (docs/decisions/0038).
   */
  find(id: number): Promise<Target | undefined> {
    return this.finding.run(id);
  }

  private async findAll(ids: readonly number[]): Promise<(Target | undefined)[]> {
    return inOrder(ids, await this.rows.targets(ids));
  }

  /**
   * Begins an attempt: counts it, writes it down, and settles one that a dead worker left behind: an
   * expired lease says so, because whoever ends an attempt gives its lease back. Undefined when
   * somebody else has it, or it is not due. A message made for another kind of template is made anew.
   */
  lease(id: number): Promise<Lease | undefined> {
    return this.leasing.run(id);
  }

  private async leaseAll(ids: readonly number[]): Promise<(Lease | undefined)[]> {
    return inOrder(ids, await this.rows.lease(ids));
  }

  renew(lease: Lease): Promise<void> {
    return this.rows.renew(lease);
  }

  /** Ends an attempt. A lease that was lost meanwhile changes nothing but the attempt's own row. */
  settle(lease: Lease, outcome: Outcome): Promise<void> {
    return this.settling.run({ lease, outcome });
  }

  private async settleAll(all: readonly Settlement[]): Promise<void[]> {
    if (all.some(({ outcome }) => outcome.delaySeconds !== null)) {
      await this.database.transaction(async () => {
        const held = await this.rows.settle(all);
        for (const { lease, outcome } of all) {
          if (outcome.delaySeconds === null || !held.has(lease.id)) continue;
          await this.outbox.postpone('notifications', lease.id, outcome.delaySeconds);
        }
      });
    } else {
      await this.rows.settle(all);
    }
    return all.map(() => undefined);
  }

  /**
   * Puts a notification off without an attempt, because its destination is known to be down. After
   * hours of that it fails, so that it does not block its template for ever.
   */
  async hold(id: number, delaySeconds: number): Promise<void> {
    await this.database.transaction(async () => {
      const row = await this.rows.postpone(id, delaySeconds);
      if (row?.planned === true) await this.outbox.postpone('notifications', id, delaySeconds);
      if (row?.planned === false) await this.outbox.acknowledge('notifications', id);
    });
  }
}

/** Rows by the ids that were asked for; undefined where there is none. */
function inOrder<T extends { id: number }>(
  ids: readonly number[],
  rows: readonly T[],
): (T | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}
