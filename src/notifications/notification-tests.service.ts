import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { NotFound } from '../common/errors/errors.js';
import { Outbox } from '../common/queue/outbox.service.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import { BaseUrl } from '../settings/base-url.service.js';
import type { OutgoingMessage } from './backends/backend.js';
import { composeMessage, composeTestMessage } from './message/composer.js';
import { eventOf } from './message/message-events.js';
import { exampleFacts } from './message/stub-context.js';
import { TemplateSandbox } from './message/template-sandbox.js';
import { notifications } from './notification-templates.resource.js';
import type { TestRequest } from './notification-templates.dto.js';
import { NotificationsRepository } from './notifications.repository.js';
import type { NotificationTemplate } from './notification-template.entity.js';

/** Sends the test notifications that users request. */
@Injectable()
export class NotificationTests {
  constructor(
    private readonly database: Database,
    private readonly records: NotificationsRepository,
    private readonly resources: ResourceService,
    private readonly outbox: Outbox,
    private readonly sandbox: TemplateSandbox,
    private readonly baseUrl: BaseUrl,
  ) {}

  /**
   * Queues a test of a template, with a single attempt.
   *
   * @returns the record, which is still pending
   */
  async send(
    template: RowOf<NotificationTemplate>,
    { event }: TestRequest,
    actor: Actor,
  ): Promise<Row> {
    const message = await this.messageOf(template, event);
    return this.database.transaction(async () => {
      const id = await this.records.addTest(template.id, template.notification_type, message);
      // The template was deleted while the message was rendered.
      if (id === null) throw new NotFound();
      await this.outbox.add('notifications', [id]);
      return this.resources.load(notifications, id, actor);
    });
  }

  private async messageOf(
    template: RowOf<NotificationTemplate>,
    event: string,
  ): Promise<OutgoingMessage> {
    const type = template.notification_type;
    const messageEvent = eventOf(event);
    if (!messageEvent) return composeTestMessage(type, template.id, await this.baseUrl.get());
    const messages = template.messages;
    const facts = exampleFacts(messageEvent);
    return composeMessage({ type, event: messageEvent, messages, facts }, this.sandbox);
  }
}
