import { Entity, Index } from 'typeorm';
import { Char, Choices, Json, Reference, Text } from '../common/fields/field.js';
import { mapValues, tableOf } from '../common/records.js';
import { NamedEntity } from '../common/resource/resource.entity.js';
import { blankConfiguration } from './backends/configuration.js';
import { NOTIFICATION_TYPES, type NotificationType } from './backends/notification-type.js';
import { backendFor } from './backends/registry.js';
import { defaultMessagesOf } from './message/default-messages.js';
import type { Messages } from './message/message-events.js';
import { NO_MESSAGES } from './message/messages.js';

export const NOTIFICATION_TYPE_CHOICES = NOTIFICATION_TYPES.map(
  (type) => [type, backendFor(type).label] as const,
);

/**
 * Returns `notification_configuration.<type>.<key>` of OPTIONS, from which clients build their
 * forms. Only keys that are optional without a default have `required`, so that the other keys keep
 * their established format.
 */
const configurationSchemas = (): Record<string, object> =>
  tableOf(NOTIFICATION_TYPES, (channel) =>
    mapValues(backendFor(channel).fields, ({ label, type, default: initial, optional }) => ({
      label,
      type,
      ...(initial === undefined ? {} : { default: initial }),
      ...(optional ? { required: false } : {}),
    })),
  );

/** Returns an object with a value for each type, by label and type. */
const byType = (valueOf: (type: NotificationType) => object): Record<string, object> =>
  Object.fromEntries(
    NOTIFICATION_TYPES.map((type) => [`${backendFor(type).label} (${type})`, valueOf(type)]),
  );

/** Returns `messages.<type>.<event>` of OPTIONS: the default texts. */
const defaultTexts = (): Record<string, object> => tableOf(NOTIFICATION_TYPES, defaultMessagesOf);

@Entity('notification_templates')
@Index('notification_templates_organization_name_key', ['organization_id', 'name'], {
  unique: true,
})
@Index('notification_templates_name_order_idx', ['name', 'id'])
export class NotificationTemplate extends NamedEntity {
  @Reference('organization', {
    required: true,
    needs: 'notification_admin',
    help: 'Organization the template belongs to.',
  })
  organization!: Reference;

  @Choices(NOTIFICATION_TYPE_CHOICES, { required: true, help: 'Channel.' })
  notification_type!: NotificationType;

  /** Each secret is sealed separately, for this row. */
  @Json({
    required: true,
    filter: false,
    help: 'The keys depend on the type: see OPTIONS or docs/notifications.md. Replaced as a whole; $encrypted$ keeps a secret.',
    options: configurationSchemas,
    examples: () => byType(blankConfiguration),
  })
  notification_configuration!: Record<string, unknown>;

  @Json({
    nullable: true,
    default: NO_MESSAGES,
    anyShape: true,
    help: 'Custom messages by event; absent parts use the default text.',
    options: defaultTexts,
    examples: () => byType(defaultMessagesOf),
  })
  messages!: Messages | null;

  /** Recipients as shown in records; stored so that creating a record needs no decryption. */
  @Text({ internal: true })
  recipients!: string;

  /** Key of the circuit breaker and of the lane (see `destinationOf`). */
  @Char({ internal: true })
  destination!: string;
}
