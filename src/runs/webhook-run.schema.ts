import { WIDE } from '../common/fields/column-types.js';
import { Char, Choices, Reference } from '../common/fields/field.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { WEBHOOK_SERVICES } from '../code-hosts/services.js';

export const VARIABLES_HELP =
  'JSON with ", " and ": " between members; secret answers masked. Lists leave out the payload of the ' +
  'webhook that launched the run (svc_webhook_payload and so on); the run itself shows it to ' +
  'administrators of the template.';

/** Fields about the webhook that launched a run. */
@ReadOnly()
export class WebhookRunFields {
  @Choices(WEBHOOK_SERVICES, { help: 'Code host whose webhook launched the run.' })
  webhook_service!: string;

  @Reference('credential', {
    nullable: true,
    index: 'where set',
    help: 'Access token that statuses are posted with.',
  })
  webhook_credential!: Reference | null;

  @Char({ max: 128, help: 'Identifier of the delivery that launched the run.' })
  webhook_guid!: string;

  @Reference('webhook_delivery', {
    ...WIDE,
    internal: true,
    nullable: true,
    index: 'where set',
  })
  webhook_delivery!: Reference | null;
}

/** The delivery that causes a launch. The run's variables are expanded from it and never copied. */
export interface LaunchWebhook {
  /** Name of the service: `service_a`, `service_b` or `service_c_dc`. */
  service: string;
  /** Credential for status posts. */
  credentialId: number | null;
  guid: string;
  deliveryId: number;
}

/**
 * Returns the code host that receives status posts of a run: that of its delivery, if there is a
 * credential for posting.
 */
export const reportsTo = (webhook: LaunchWebhook | undefined): string | null =>
  webhook === undefined || webhook.credentialId === null ? null : webhook.service;

/** Returns the delivery that caused a run, for a relaunch; empty if no delivery caused it. */
export const webhookOf = (run: RowOf<WebhookRunFields>): { webhook?: LaunchWebhook } =>
  run.webhook_delivery_id === null
    ? {}
    : {
        webhook: {
          service: run.webhook_service,
          credentialId: run.webhook_credential_id,
          guid: run.webhook_guid,
          deliveryId: run.webhook_delivery_id,
        },
      };
