import { Injectable } from '@nestjs/common';
import { ActivityRepository } from '../activity/activity.repository.js';
import { SessionsRepository } from '../auth/sessions.repository.js';
import { TokensRepository } from '../auth/tokens.repository.js';
import { Settings } from '../config/settings.js';
import { NotificationsRepository } from '../notifications/notifications.repository.js';
import { Cleanups, inBatches, type Removal } from '../system-jobs/cleanups.js';
import type { CleanupKind } from '../system-jobs/system-job.entity.js';
import { WebhookDeliveriesRepository } from '../webhooks/webhook-deliveries.repository.js';
import { OldRuns } from './old-runs.service.js';

/** Default age of histories, in days. */
const HISTORY_DAYS = 90;
const SECONDS_PER_DAY = 86_400;

/** The removals of each kind of system job (docs/contract/system-jobs.md#kinds). */
@Injectable()
export class CleanupTasks extends Cleanups {
  constructor(
    private readonly settings: Settings,
    private readonly runs: OldRuns,
    private readonly activity: ActivityRepository,
    private readonly sessions: SessionsRepository,
    private readonly tokens: TokensRepository,
    private readonly notifications: NotificationsRepository,
    private readonly deliveries: WebhookDeliveriesRepository,
  ) {
    super();
  }

  of(kind: CleanupKind, days: number | null): Removal {
    const { activity, sessions, tokens, notifications, settings } = this;
    switch (kind) {
      case 'cleanup_jobs':
        return this.runs.olderThan(days ?? HISTORY_DAYS);
      case 'cleanup_activitystream':
        return removalOf('activity stream entries', activity, days ?? HISTORY_DAYS);
      case 'cleanup_notifications':
        return removalOf('notifications', notifications, days ?? HISTORY_DAYS);
      case 'cleanup_sessions': {
        // Valid sessions are never removed.
        const age = Math.max(days ?? 1, Math.ceil(settings.SESSION_COOKIE_AGE / SECONDS_PER_DAY));
        return {
          objects: 'sessions',
          count: () => sessions.countInactive(age),
          batches: () => inBatches((limit) => sessions.removeInactive(age, limit)),
        };
      }
      case 'cleanup_tokens': {
        const age = days ?? 0;
        return {
          objects: 'tokens',
          count: () => tokens.countExpired(age),
          batches: () => inBatches((limit) => tokens.removeExpired(age, limit)),
        };
      }
      case 'cleanup_webhook_deliveries':
        return this.oldDeliveries(days ?? settings.DELIVERY_RETENTION);
    }
  }

  /**
   * Returns the removal of old deliveries. A delivery with an existing run keeps its small fields, which
   * are the source of the run's variables; its payload is removed when none of its runs is active.
   */
  private oldDeliveries(days: number): Removal {
    const { deliveries } = this;
    return {
      ...removalOf('webhook deliveries', deliveries, days),
      async *batches() {
        yield* inBatches((limit) => deliveries.removeOld(days, limit));
        const emptied = inBatches((limit) => deliveries.removeOldPayloads(days, limit));
        while (!(await emptied.next()).done) yield 0;
      },
    };
  }
}

const removalOf = (
  objects: string,
  rows: Pick<ActivityRepository, 'countOld' | 'removeOld'>,
  days: number,
): Removal => ({
  objects,
  count: () => rows.countOld(days),
  batches: () => inBatches((limit) => rows.removeOld(days, limit)),
});
