import { Entity } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import { Char, Choices, DateTime, Integer, Json, Reference, Text } from '../common/fields/field.js';
import { INSTANT, INTEGER, list, object, orNull, STRING } from '../common/fields/json-schema.js';
import type { StatusPostAttempt } from './status-posts.repository.js';

const READ_ONLY = { readOnly: true } as const;

const ATTEMPTS = list(
  object({
    number: INTEGER,
    at: INSTANT,
    answer: orNull({ ...INTEGER, description: 'Status code of the response.' }),
    detail: STRING,
    duration_ms: orNull(INTEGER),
  }),
);

/**
 * A status of a job that is posted to the service that launched it
 * (docs/contract/webhooks.md#statuses-posted-back).
 */
@Entity('webhook_status_posts')
export class WebhookStatusPost {
  @Integer({ ...READ_ONLY, ...WIDE, label: 'ID', help: 'Database id of this object.' })
  id!: number;

  @DateTime({
    ...READ_ONLY,
    nullable: false,
    columnDefault: 'now()',
    help: 'Time at which the object was created.',
  })
  created!: string;

  @Reference('unified_job', { ...READ_ONLY, ...WIDE, help: 'Run whose status is posted.' })
  job!: Reference;

  @Char({ ...READ_ONLY, help: 'New status of the job.' })
  status!: string;

  @Char({ ...READ_ONLY, help: 'Name of the status at the code host.' })
  state!: string;

  @Choices(
    [
      ['pending', 'Pending'],
      ['sent', 'Sent'],
      ['superseded', 'Superseded'],
      ['failed', 'Failed'],
    ],
    { ...READ_ONLY, default: 'pending', help: 'Superseded: replaced by a later status.' },
  )
  outcome!: string;

  @Text({ ...READ_ONLY, help: 'Reason, as a sentence.' })
  reason!: string;

  @Json({ ...READ_ONLY, default: [], schema: ATTEMPTS, help: 'Result of each attempt.' })
  attempts!: StatusPostAttempt[];

  @DateTime({ ...READ_ONLY, columnDefault: 'now()', help: 'Time of the next attempt.' })
  next_attempt!: string | null;

  @DateTime({ ...READ_ONLY, help: 'Time of the final outcome.' })
  finished!: string | null;

  /**
   * URL of the post. Internal, because its path can contain more than readers of the job are
   * allowed to see.
   */
  @Text({ internal: true })
  url!: string;

  /** Lease number, which is the number of started attempts. */
  @Integer({ internal: true, default: 0 })
  attempt!: number;

  @DateTime({ internal: true })
  lease_until!: string | null;
}
