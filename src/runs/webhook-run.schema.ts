import { Char, Choices, Reference } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { WEBHOOK_SERVICES } from '../code-hosts/services.js';

const READ_ONLY = { readOnly: true } as const;

/** What a run knows of the webhook that launched it. */
export class WebhookRunFields {
  @Choices(WEBHOOK_SERVICES, READ_ONLY)
  webhook_service!: string;

  @Reference(() => resource('credential'), { ...READ_ONLY, nullable: true, index: false })
  webhook_credential!: number | null;

  @Char({ ...READ_ONLY, max: 128 })
  webhook_guid!: string;

  @Reference(() => resource('webhook_delivery'), {
    internal: true,
    readOnly: true,
    nullable: true,
  })
  webhook_delivery!: number | null;
}
