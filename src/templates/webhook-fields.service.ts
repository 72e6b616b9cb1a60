import { Injectable } from '@nestjs/common';
import type { FieldErrors } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { ExtraColumns, Values } from '../common/rest/hooks.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { webhookFilterFaults } from '../code-hosts/filters.js';
import { WebhookKeys } from './webhook-keys.service.js';

/**
 * Validates and completes the webhook fields of templates of every kind with receivers
 * (docs/contract/webhooks.md#fields-of-templates).
 */
@Injectable()
export class WebhookFields {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly keys: WebhookKeys,
  ) {}

  /**
   * Returns the faults of the fields after a request.
   *
   * @param row current template; empty for a new one
   */
  async errors(values: Values, row: Partial<Row>): Promise<FieldErrors> {
    const faults = 'webhook_filters' in values ? webhookFilterFaults(values.webhook_filters) : [];
    return {
      ...(await this.credentialErrors(values, row)),
      ...(faults.length > 0 ? { webhook_filters: faults } : {}),
    };
  }

  /** Creates the key of a new template with a webhook service. */
  async created({ id, webhook_service: service }: Row): Promise<void> {
    if (service !== '') await this.keys.assign(id);
  }

  /** Returns the key column after a change: another service gets a new key, no service an empty key. */
  keyAfter(row: Row, { webhook_service: service }: Values): ExtraColumns {
    if (service === undefined) return {};
    return { webhook_key: service === '' ? '' : this.keys.fresh(row.id) };
  }

  private async credentialErrors(values: Values, row: Partial<Row>): Promise<FieldErrors> {
    if (!('webhook_service' in values || 'webhook_credential' in values)) return {};
    const {
      webhook_service: service = row.webhook_service ?? '',
      webhook_credential: id = row.webhook_credential_id ?? null,
    } = values;
    const type = typeof id === 'number' ? await this.credentials.typeOf(id) : undefined;
    if (!type) return {};
    if (type.kind !== 'token') return { webhook_credential: ['Must be a Personal Access Token.'] };
    return type.namespace === `${String(service)}_token`
      ? {}
      : { webhook_credential: ['Must match the selected webhook service.'] };
  }
}
