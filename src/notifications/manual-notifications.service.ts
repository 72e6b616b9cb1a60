import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { validate } from '../common/fields/validate.js';
import { Conflict, NotFound } from '../common/http/errors.js';
import { Outbox } from '../common/queue/outbox.js';
import type { Row } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/resource/resource.service.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import type { NotificationType } from './backends/notification-type.js';
import { BaseUrl } from './base-url.js';
import { composeMessage, composeTestMessage, type ComposedMessage } from './message/compose.js';
import { eventOf, type Messages } from './message/message-events.js';
import { TemplateSandbox } from './message/template-sandbox.js';
import { notifications, notificationTemplates } from './notification-templates.resource.js';
import { TEST_FIELDS } from './test-request.js';

type Body = Record<string, unknown>;

/** Notifications that a person asks for: tests of a template and repetitions of a record. */
@Injectable()
export class ManualNotifications {
  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
    private readonly outbox: Outbox,
    private readonly activity: ActivityRecorder,
    private readonly sandbox: TemplateSandbox,
    private readonly baseUrl: BaseUrl,
  ) {}

  /** Queues a test of a template (automation 3.8). @returns the record, still pending */
  async test(templateId: string, body: Body, actor: Actor): Promise<Row> {
    const template = await this.resources.load(notificationTemplates, templateId, actor);
    const { event } = validate(TEST_FIELDS, body, { partial: true });
    await this.resources.assertMay(notificationTemplates, template.id, 'change', actor);
    const message = await this.messageOf(template, event);
    return this.queue(
      sql`
        INSERT INTO notifications (notification_template_id, notification_type, recipients,
          subject, body, text, event, message_id)
        SELECT id, notification_type, recipients, ${message.subject}, ${JSON.stringify(message.body)}::json,
          ${message.text}, 'test', gen_random_uuid()::text
        FROM notification_templates WHERE id = ${template.id}
        RETURNING *`,
      actor,
    );
  }

  /**
   * Sends a finished notification once more, as a record of its own, because a record's outcome is
   * final. What failed keeps its id and the recipients it reached, so that nobody is told twice;
   * what succeeded goes out anew.
   */
  async resend(id: string, actor: Actor): Promise<Row> {
    return this.database.transaction(async () => {
      const row = await this.resources.load(notifications, id, actor, { action: 'resend' });
      if (row.status === 'pending') throw new Conflict('The notification is still being sent.');
      const failed = row.status === 'failed';
      const repeated = await this.queue(
        sql`
          INSERT INTO notifications (notification_template_id, unified_job_id, notification_type,
            recipients, subject, body, text, event, message_id, delivered, resend_of_id, resent)
          SELECT notification_template_id, unified_job_id, notification_type,
            recipients, subject, body, text, event,
            CASE WHEN ${failed}::boolean THEN message_id ELSE gen_random_uuid()::text END,
            CASE WHEN ${failed}::boolean THEN delivered ELSE '[]' END, id, TRUE
          FROM notifications WHERE id = ${row.id}
          RETURNING *`,
        actor,
      );
      await this.recordResend(repeated);
      return repeated;
    });
  }

  private async messageOf(template: Row, event: unknown): Promise<ComposedMessage> {
    const type = template.notification_type as NotificationType;
    const messageEvent = eventOf(event);
    if (!messageEvent) return composeTestMessage(type, template.id, await this.baseUrl.get());
    const messages = template.messages as Messages | null;
    return composeMessage({ type, event: messageEvent, messages, facts: null }, this.sandbox);
  }

  private queue(insert: Sql, actor: Actor): Promise<Row> {
    return this.database.transaction(async () => {
      const row = await this.database.row<Row>(insert);
      // The template went away while the message was made.
      if (!row) throw new NotFound();
      await this.outbox.add('notifications', [row.id]);
      return this.resources.load(notifications, row.id, actor);
    });
  }

  private async recordResend(row: Row): Promise<void> {
    const template = await this.database.row<Row>(sql`
      SELECT id, name, organization_id FROM notification_templates
      WHERE id = ${row.notification_template_id}`);
    const { organizationId } = refOf(notificationTemplates, template!);
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
}
