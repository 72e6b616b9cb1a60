import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { isWebhookServiceName, webhookService } from '../code-hosts/services.js';
import { BaseUrl } from '../settings/base-url.service.js';
import { receiverLink } from '../templates/webhook-links.js';
import { WebhookKeys } from '../templates/webhook-keys.service.js';
import { eventMismatch, type ReceiverKind } from './receiver-kinds.js';

/** The values to enter at the code host so that a template receives its webhooks. */
export interface WebhookSetup {
  /**
   * Code host. Empty for a template without one; all other values are then empty.
   */
  webhook_service: string;
  /** URL to which the code host sends deliveries, with the address of this installation. */
  url: string;
  webhook_key: string;
  content_types: string[];
  /** Events that launch a run, by their names at the code host. */
  events: string[];
  /** Headers that can contain the signature or the token. Each delivery needs one of these headers. */
  proof_headers: string[];
}

export const WEBHOOK_SETUP = json.object({
  webhook_service: json.described(json.STRING, 'Code host.'),
  url: { ...json.STRING, description: 'Full payload URL.' },
  webhook_key: { ...json.STRING, description: 'Secret to enter at the code host.' },
  content_types: json.described(json.list(json.STRING), 'Content types that the receiver accepts.'),
  events: { ...json.list(json.STRING), description: 'Events that launch a run.' },
  proof_headers: {
    ...json.list(json.STRING),
    description: 'Headers that can contain a signature or token.',
  },
});

/**
 * Returns the values that connect a repository with a template (docs/contract/webhooks.md#set-up).
 */
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
      events: types.filter((type) => eventMismatch(kind, { service: name, type }) === null),
      proof_headers:
        signature.kind === 'token'
          ? [signature.header]
          : signature.headers.map(({ name: header }) => header),
    };
  }
}

const NO_SETUP: WebhookSetup = {
  webhook_service: '',
  url: '',
  webhook_key: '',
  content_types: [],
  events: [],
  proof_headers: [],
};
