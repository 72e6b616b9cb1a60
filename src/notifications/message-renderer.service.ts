import { Injectable } from '@nestjs/common';
import { SendError, type OutgoingMessage } from './backends/backend.js';
import type { Lease } from './notification-lease.js';
import { composeMessage } from './message/composer.js';
import { eventOf } from './message/message-events.js';
import { TemplateSandbox } from './message/template-sandbox.js';
import { RunFactsLoader } from './run-facts.loader.js';

/** Renders the message of a notification once; later attempts send the same text. */
@Injectable()
export class MessageRenderer {
  constructor(
    private readonly facts: RunFactsLoader,
    private readonly sandbox: TemplateSandbox,
  ) {}

  /** @throws SendError if the run was deleted */
  async render(lease: Lease): Promise<OutgoingMessage> {
    const { text, subject, body, notification_type: type, messages } = lease;
    if (text !== null) return { subject, body, text };
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
