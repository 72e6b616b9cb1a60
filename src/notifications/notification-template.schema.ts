import { Bool, Char, Choices, DateTime, Integer, Json, Reference, Text } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { NamedSchema, ResourceSchema } from '../common/resource/schemas.js';
import { NOTIFICATION_TYPES } from './backends/notification-type.js';
import { backendFor } from './backends/registry.js';

export const NOTIFICATION_TYPE_CHOICES = NOTIFICATION_TYPES.map(
  (type) => [type, backendFor(type).label] as const,
);

export class NotificationTemplateSchema extends NamedSchema {
  @Reference(() => resource('organization'), {
    required: true,
    needs: 'notification_admin',
    help: 'Organization the template belongs to.',
  })
  organization!: number;

  @Choices(NOTIFICATION_TYPE_CHOICES, { required: true, help: 'Channel.' })
  notification_type!: string;

  /** Secrets in it are sealed one by one for this row. */
  @Json({ required: true, filter: false, help: 'Keys depend on the type.' })
  notification_configuration!: Record<string, unknown>;

  @Json({ nullable: true, help: 'Custom messages by event; absent parts use the default text.' })
  messages!: Record<string, unknown> | null;
}

/** One firing of one template for one event: the kept history (seed, Notification). */
export class NotificationSchema extends ResourceSchema {
  @Reference(() => resource('notification_template'), { readOnly: true })
  notification_template!: number;

  @Choices(
    [
      ['pending', 'Pending'],
      ['successful', 'Successful'],
      ['failed', 'Failed'],
    ],
    { readOnly: true, default: 'pending' },
  )
  status!: string;

  @Text({ readOnly: true })
  error!: string;

  @Integer({ readOnly: true, default: 0 })
  notifications_sent!: number;

  @Choices(NOTIFICATION_TYPE_CHOICES, { readOnly: true, search: true })
  notification_type!: string;

  @Text({ readOnly: true, help: 'Readable; secret parts of addresses are masked.' })
  recipients!: string;

  @Text({ readOnly: true, search: true })
  subject!: string;

  @Json({ readOnly: true, search: true })
  body!: Record<string, unknown>;

  @Reference(() => resource('unified_job'), { readOnly: true, nullable: true, hidden: true })
  unified_job!: number | null;

  @Char({ internal: true, help: 'started, success, error, approvals.*, or test.' })
  event!: string;

  /** Facts of the run when it fired, from which the message is rendered. */
  @Json({ internal: true, nullable: true })
  facts!: object | null;

  /** Stable id that goes out with every attempt (R4). */
  @Char({ internal: true })
  message_id!: string;

  @Integer({ internal: true, default: 0 })
  attempts!: number;

  @DateTime({ internal: true })
  next_attempt_at!: string | null;

  @DateTime({ internal: true })
  lease_until!: string | null;

  /** Recipients that were reached by an attempt that failed for others. */
  @Json({ internal: true, default: [] })
  delivered!: string[];

  @Bool({ internal: true })
  resent!: boolean;
}
