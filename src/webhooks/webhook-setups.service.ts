import { Injectable } from '@nestjs/common';
import { list, object, STRING } from '../common/fields/json-schema.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { isWebhookServiceName, webhookService } from '../code-hosts/services.js';
import { BaseUrl } from '../settings/base-url.service.js';
import { receiverLink } from '../templates/webhook-links.js';
import { WebhookKeys } from '../templates/webhook-keys.service.js';
import { eventObjection, type ReceiverKind } from './receiver-kinds.js';

/** What to enter at the code host so that a template receives its webhooks. */
export interface WebhookSetup {
  /** Empty for a template without one; then all that follows is empty too. */
  webhook_service: string;
  /** Where the service sends to, with the address of this installation. */
  url: string;
  webhook_key: string;
  content_types: string[];
  /** Events that launch something, by the names of the service. */
  events: string[];
  /** Headers of which one has to prove the key. */
  proof_headers: string[];
}

export const WEBHOOK_SETUP = object({
  webhook_service: STRING,
  url: { ...STRING, description: 'Where the service sends to, in full.' },
  webhook_key: { ...STRING, description: 'The secret to enter there.' },
  content_types: list(STRING),
  events: { ...list(STRING), description: 'Events that launch something.' },
  proof_headers: { ...list(STRING), description: 'Headers of which one proves the key.' },
});

/** Tells what connects a repository with a template (docs/contract/webhooks.md#set-up). */
@Injectable()
export class WebhookSetups {
  constructor(
    private readonly keys: WebhookKeys,
    private readonly baseUrl: BaseUrl,
  ) {}

  async of(
    definition: ResourceDefinition,
    kind: ReceiverKind,
    template: Row,
  ): Promise<WebhookSetup> {
    const name = String(template.webhook_service);
    if (!isWebhookServiceName(name)) return NO_SETUP;
    const { events, formField, signature } = webhookService(name);
    const types = Object.keys(events);
    return {
      webhook_service: name,
      url: (await this.baseUrl.get()) + (receiverLink(definition, template).webhook_receiver ?? ''),
      webhook_key: this.keys.open(template),
      content_types: [
        'application/json',
        ...(formField === null ? [] : ['application/x-www-form-urlencoded']),
      ],
      events: types.filter((type) => eventObjection(kind, { service: name, type }) === null),
      proof_headers:
        signature.kind === 'token'
          ? [signature.header]
          : signature.headers.map(({ name: header }) => header),
    };
  }
}

const NO_SETUP: WebhookSetup = {
  ...{ webhook_service: '', url: '', webhook_key: '' },
  ...{ content_types: [], events: [], proof_headers: [] },
};
