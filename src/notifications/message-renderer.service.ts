import { Injectable } from '@nestjs/common';
import { BaseUrl } from '../settings/base-url.service.js';
import { SendError, type OutgoingMessage } from './backends/backend.js';
import type { Lease } from './notification-lease.js';
import { composeMessage, composeTestMessage } from './message/composer.js';
import { eventOf, TEST_EVENT } from './message/message-events.js';
import { TemplateSandbox } from './message/template-sandbox.js';
import { RunFactsLoader } from './run-facts.loader.js';

/** Renders the message of a notification once; later attempts send the same text. */
@Injectable()
export class MessageRenderer {
  constructor(
    private readonly facts: RunFactsLoader,
    private readonly sandbox: TemplateSandbox,
    private readonly baseUrl: BaseUrl,
  ) {}

  /** @throws SendError if the run was deleted */
  async render(lease: Lease): Promise<OutgoingMessage> {
    const { text, subject, body, notification_type: type, messages } = lease;
    if (text !== null) return { subject, body, text };
    if (lease.event === TEST_EVENT) {
      return composeTestMessage(type, lease.notification_template_id, await this.baseUrl.get());
    }
    const event = eventOf(lease.event);
    const facts =
      event && lease.unified_job_id !== null
        ? await this.facts.load(lease.unified_job_id, event)
        : null;
    if (!event || !facts) {
      throw new SendError('The run was deleted before its message could be rendered.');
    }
    return composeMessage({ type, event, messages, facts }, this.sandbox);
  }
}
