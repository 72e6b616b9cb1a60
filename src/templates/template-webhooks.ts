import { Injectable } from '@nestjs/common';
import type { FieldErrors } from '../common/http/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { ExtraColumns, Values } from '../common/resource/hooks.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { webhookFilterFaults } from '../webhooks/filters.js';
import { WebhookKeys } from './webhook-keys.js';

/** The webhook settings of a template, by the same rules for every kind of it (automation 2.1). */
@Injectable()
export class TemplateWebhooks {
  constructor(
    private readonly database: Database,
    private readonly keys: WebhookKeys,
  ) {}

  /**
   * Everything that is wrong with the settings as they would be.
   *
   * @param row the template as it is; `{}` for one that is to be made
   */
  async errors(values: Values, row: Partial<Row>): Promise<FieldErrors> {
    const errors: FieldErrors = {};
    if ('webhook_service' in values || 'webhook_credential' in values) {
      const service = values.webhook_service ?? row.webhook_service;
      const credential =
        'webhook_credential' in values ? values.webhook_credential : row.webhook_credential_id;
      const fault = await this.credentialFault(credential, service);
      if (fault !== null) errors.webhook_credential = [fault];
    }
    if ('webhook_filters' in values) {
      const faults = webhookFilterFaults(values.webhook_filters);
      if (faults.length > 0) errors.webhook_filters = faults;
    }
    return errors;
  }

  /** Gives a template that was just made with a service its key. */
  async created({ id, webhook_service: service }: Row): Promise<void> {
    if (service !== '') await this.keys.assign(id);
  }

  /** Another service is another key, and none is no key. `values` holds only what changes. */
  keyColumn({ id }: Row, { webhook_service: service }: Values): ExtraColumns {
    if (service === undefined) return {};
    return { webhook_key: service === '' ? '' : this.keys.fresh(id) };
  }

  private async credentialFault(id: unknown, service: unknown): Promise<string | null> {
    if (typeof id !== 'number') return null;
    const type = await this.database.row<{ kind: string; namespace: string | null }>(sql`
      SELECT ct.kind, ct.namespace FROM credentials c
      JOIN credential_types ct ON ct.id = c.credential_type_id WHERE c.id = ${id}`);
    if (!type) return null;
    if (type.kind !== 'token') return 'Must be a Personal Access Token.';
    const isOfService = type.namespace === `${String(service)}_token`;
    return isOfService ? null : 'Must match the selected webhook service.';
  }
}
