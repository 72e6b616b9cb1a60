import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { Conflict, Invalid } from '../common/errors/errors.js';
import { Outbox } from '../common/queue/outbox.service.js';
import type { Row } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import * as json from '../common/fields/json-schema.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { NotificationTemplatesRepository } from './notification-templates.repository.js';
import { notifications, notificationTemplates } from './notification-templates.resource.js';
import { isUnfinished } from './notification.entity.js';
import { NotificationsRepository } from './notifications.repository.js';
import type { ResendRange } from './notification-templates.dto.js';
import { itemAt } from '../common/invariants.js';

/** Response of a resend of a time range, for the OpenAPI document. */
export const RESENT = json.object(
  {
    dry_run: { ...json.BOOLEAN, description: 'Present and true if nothing was sent.' },
    count: { ...json.INTEGER, description: 'Number of notifications resent.' },
    notifications: {
      ...json.list(json.WIDE_INTEGER),
      description: 'Ids of the new records; in a dry run, ids of the records to resend.',
    },
  },
  ['dry_run'],
);

/**
 * Resends finished notifications as new records, because the outcome of a finished notification is
 * final. The resend of a failed notification keeps the message id and skips the recipients already
 * reached; a successful notification is sent to all recipients again.
 */
@Injectable()
export class NotificationResends {
  constructor(
    private readonly database: Database,
    private readonly records: NotificationsRepository,
    private readonly templates: NotificationTemplatesRepository,
    private readonly resources: ResourceService,
    private readonly outbox: Outbox,
    private readonly activity: ActivityRecorder,
    private readonly settings: RuntimeSettings,
  ) {}

  /**
   * @returns the new record
   * @throws Conflict if the old notification, or a resend of it, is unfinished
   */
  async resend(target: Row, actor: Actor): Promise<Row> {
    return this.database.transaction(async () => {
      const row = await this.resources.lock(notifications, target, actor);
      // With the lock, a simultaneous identical request finds the new record pending.
      const isBeingSent = isUnfinished(row) || (await this.records.isBeingResent(row.id));
      if (isBeingSent) throw new Conflict('The notification is still being sent.');
      const newId = itemAt(await this.addResends([row.id]), 0);
      const record = await this.resources.load(notifications, newId, actor);
      await this.recordResend(record);
      return record;
    });
  }

  /**
   * Resends the notifications of a template in a time range. Includes only notifications whose newest
   * record has one of the requested statuses (docs/decisions/0038-notifications.md).
   *
   * @param dryRun true to only return the records that would be resent
   * @throws Invalid if the limit is exceeded; then nothing is sent
   */
  async resendAll(target: Row, range: ResendRange, actor: Actor, dryRun: boolean): Promise<object> {
    return this.database.transaction(async () => {
      // With the lock, a simultaneous identical request finds the new records pending.
      const template = dryRun
        ? target
        : await this.resources.lock(notificationTemplates, target, actor);
      const ids = await this.idsInRange(template.id, range);
      if (dryRun) return { dry_run: true, count: ids.length, notifications: ids };
      const newIds = await this.addResends(ids);
      if (newIds.length > 0) this.recordRange(template, range, newIds.length);
      return { count: newIds.length, notifications: newIds };
    });
  }

  /**
   * Uses one statement and one wake-up for any number of notifications.
   *
   * @returns the ids of the resends, in ascending order of their originals
   */
  private async addResends(ids: readonly number[]): Promise<number[]> {
    const newIds = await this.records.addResends(ids);
    await this.outbox.add('notifications', newIds);
    return newIds;
  }

  private async idsInRange(templateId: number, range: ResendRange): Promise<number[]> {
    const { NOTIFICATION_RESEND_MAX: max } = await this.settings.get('NOTIFICATION_RESEND_MAX');
    const rows = await this.records.newestOf(templateId, range, max);
    const total = rows[0]?.total ?? 0;
    if (total > max) {
      throw Invalid.all(
        `Number of notifications exceeds system setting NOTIFICATION_RESEND_MAX: ${total} found, ${max} allowed.`,
      );
    }
    return rows.map(({ id }) => id);
  }

  private async recordResend(row: Row): Promise<void> {
    const template = await this.templates.activityFields(row.notification_template_id);
    const { organizationId } = refOf(notificationTemplates, template);
    this.activity.record({
      operation: 'create',
      object1: { ...refOf(notifications, row), organizationId: organizationId ?? null },
      changes: {
        id: row.id,
        notification_template: row.notification_template_id,
        resend_of: row.resend_of_id,
      },
    });
  }

  private recordRange(template: Row, range: ResendRange, count: number): void {
    this.activity.recordUpdate(notificationTemplates, template, {
      notifications_resent: count,
      ...range,
    });
  }
}
