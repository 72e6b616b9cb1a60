import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { NotFound } from '../common/errors/errors.js';
import { Outbox } from '../common/queue/outbox.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { BaseUrl } from './base-url.service.js';
import { composeMessage, composeTestMessage, type ComposedMessage } from './message/compose.js';
import { eventOf, TEST_EVENT } from './message/message-events.js';
import { TemplateSandbox } from './message/template-sandbox.js';
import { notifications } from './notification-templates.resource.js';
import type { TestRequest } from './test-request.js';
import type { NotificationTemplateSchema } from './notification-template.schema.js';

/** Tests of a template, which a person asks for. */
@Injectable()
export class NotificationTests {
  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
    private readonly outbox: Outbox,
    private readonly sandbox: TemplateSandbox,
    private readonly baseUrl: BaseUrl,
  ) {}

  /** Queues a test of a template, for one attempt. @returns the record, still pending */
  async send(
    template: RowOf<NotificationTemplateSchema>,
    { event }: TestRequest,
    actor: Actor,
  ): Promise<Row> {
    const message = await this.messageOf(template, event);
    return this.database.transaction(async () => {
      const row = await this.database.row<{ id: number }>(sql`
        INSERT INTO notifications (notification_template_id, notification_type, recipients,
          subject, body, text, event, message_id)
        SELECT id, notification_type, recipients, ${message.subject}, ${JSON.stringify(message.body)}::json,
          ${message.text}, ${TEST_EVENT}, gen_random_uuid()::text
        FROM notification_templates WHERE id = ${template.id}
        RETURNING id`);
      // The template went away while the message was made.
      if (!row) throw new NotFound();
      await this.outbox.add('notifications', [row.id]);
      return this.resources.load(notifications, row.id, actor);
    });
  }

  private async messageOf(
    template: RowOf<NotificationTemplateSchema>,
    event: string,
  ): Promise<ComposedMessage> {
    const type = template.notification_type;
    const messageEvent = eventOf(event);
    if (!messageEvent) return composeTestMessage(type, template.id, await this.baseUrl.get());
    const messages = template.messages;
    return composeMessage({ type, event: messageEvent, messages, facts: null }, this.sandbox);
  }
}
