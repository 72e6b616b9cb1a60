import { Column, Entity, Index } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import {
  Bool,
  Char,
  Choices,
  DateTime,
  Integer,
  Json,
  Reference,
  Text,
} from '../common/fields/field.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import type { Row } from '../common/resource/define-resource.js';
import { TotalRow } from '../common/resource/stored-totals.js';
import { ident, sql, type Sql } from '../database/sql.js';
import type { NotificationType } from './backends/notification-type.js';
import { WideResourceEntity } from '../common/resource/resource.entity.js';
import { NOTIFICATION_TYPE_CHOICES } from './notification-template.entity.js';

/**
 * Returns the SQL condition for an unfinished notification: it is pending, or it failed and will be
 * retried (docs/decisions/0038-notifications.md). The planned time stays set during the retry, so that
 * the retry is not lost if the worker dies. The index `notifications_unfinished_idx` serves this
 * condition.
 */
export const unfinished = (alias: string): Sql =>
  sql`(${ident(alias, 'status')} = 'pending' OR ${ident(alias, 'next_attempt_at')} IS NOT NULL)`;

/** Returns true for the row of an unfinished notification. */
export const isUnfinished = (row: Row): boolean =>
  row.status === 'pending' || row.next_attempt_at !== null;

/** A notification of one template for one event; the rows are the history. */
@ReadOnly()
@Entity('notifications')
@Index('notifications_status_idx', ['status', 'id'])
@Index('notifications_created_idx', ['created', 'id'])
@Index('notifications_template_idx', ['notification_template_id', 'id'])
// Keeps the lookup of unfinished notifications fast, however long the history is (`unfinished`).
@Index('notifications_unfinished_idx', ['notification_template_id', 'id'], {
  where: `((status = 'pending'::text) OR (next_attempt_at IS NOT NULL))`,
})
// Prevents a second notification for an event that is published twice; manual resends are exempt.
@Index('notifications_event_key', ['unified_job_id', 'notification_template_id', 'event'], {
  where: 'NOT resent',
  unique: true,
})
export class Notification extends WideResourceEntity {
  @Reference('notification_template', { index: false, help: 'Template of the notification.' })
  notification_template!: Reference;

  @Choices(
    [
      ['pending', 'Pending'],
      ['successful', 'Successful'],
      ['failed', 'Failed'],
    ],
    {
      default: 'pending',
      help: 'Pending: no attempt yet. Failed: the last attempt failed; next_attempt_at is the time of the next attempt.',
    },
  )
  status!: string;

  @Text({ help: 'Reason for the last failure, or for a delay without an attempt.' })
  error!: string;

  @Integer({ default: 0, help: 'Number of recipients.' })
  notifications_sent!: number;

  @Choices(NOTIFICATION_TYPE_CHOICES, { search: true, help: 'Channel.' })
  notification_type!: NotificationType;

  @Text({ help: 'Readable recipients; secret parts of addresses are masked.' })
  recipients!: string;

  @Text({ search: true, help: 'Subject of the message.' })
  subject!: string;

  @Json({ search: true, help: 'Sent message, in the format of the channel.' })
  body!: Record<string, unknown>;

  @Reference('unified_job', {
    ...WIDE,
    label: 'Job',
    nullable: true,
    hidden: true,
  })
  unified_job!: Reference | null;

  @Char({
    help: 'Event: `started`, `success`, `error`, `workflow_approval.running` (or `approved`, `timed_out`, `denied`), or `test`.',
  })
  event!: string;

  @Integer({ default: 0, help: 'Number of attempts so far.' })
  attempts!: number;

  @DateTime({
    help: 'Time of the next attempt; null if none is planned. During an attempt, its time is in the past.',
  })
  next_attempt_at!: string | null;

  @Reference('notification', {
    ...WIDE,
    nullable: true,
    index: 'where set',
    help: 'Original notification that this record resends.',
  })
  resend_of!: Reference | null;

  /** True for a resend; remains true after the original record was deleted. */
  @Bool({ internal: true })
  resent!: boolean;

  /** The rendered body exactly as it is sent; null until it is rendered. */
  @Text({ internal: true, nullable: true })
  text!: string | null;

  /** Id that is sent with every attempt and does not change. */
  @Char({ internal: true })
  message_id!: string;

  @DateTime({ internal: true })
  lease_until!: string | null;

  /** Recipients already reached by an attempt that failed for other recipients. */
  @Json({ internal: true, default: [] })
  delivered!: string[];
}

/** One attempt to send a notification and its result (docs/contract/notifications.md#attempts). */
@ReadOnly()
@Entity('notification_attempts')
@Index('notification_attempts_key', ['notification_id', 'number'], { unique: true })
export class NotificationAttempt extends WideResourceEntity {
  @Reference('notification', {
    ...WIDE,
    index: false,
    help: 'Notification that was sent.',
  })
  notification!: Reference;

  @Integer({ default: 0, help: 'Number of the attempt, from 1.' })
  number!: number;

  @Bool({ nullable: true, help: 'Null while the attempt is in progress.' })
  successful!: boolean | null;

  @Integer({ nullable: true, help: 'Status code of the response.' })
  status_code!: number | null;

  @Text({ help: 'Start of the response, or the reason for a missing response.' })
  detail!: string;

  @Integer({ nullable: true, help: 'Duration in milliseconds.' })
  duration_ms!: number | null;
}

@Entity('notification_totals')
export class NotificationTotal extends TotalRow {
  @Column({ type: 'integer', nullable: true })
  notification_template_id!: number | null;
}
