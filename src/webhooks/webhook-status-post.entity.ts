import { Entity } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import { Char, Choices, DateTime, Integer, Json, Reference, Text } from '../common/fields/field.js';
import * as json from '../common/fields/json-schema.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import type { StatusPostAttempt } from './status-posts.repository.js';

const ATTEMPTS = json.list(
  json.object({
    number: json.INTEGER,
    at: json.INSTANT,
    answer: json.orNull({ ...json.INTEGER, description: 'Status code of the response.' }),
    detail: json.STRING,
    duration_ms: json.orNull(json.INTEGER),
  }),
);

/**
 * A status of a job that is posted to the service that launched it
 * (docs/contract/webhooks.md#statuses-posted-back).
 */
@ReadOnly()
@Entity('webhook_status_posts')
export class WebhookStatusPost {
  @Integer({ ...WIDE, label: 'ID', help: 'Database id of this object.' })
  id!: number;

  @DateTime({
    nullable: false,
    columnDefault: 'now()',
    help: 'Time at which the object was created.',
  })
  created!: string;

  @Reference('unified_job', { ...WIDE, help: 'Run whose status is posted.' })
  job!: Reference;

  @Char({ help: 'New status of the job.' })
  status!: string;

  @Char({ help: 'Name of the status at the code host.' })
  state!: string;

  @Choices(
    [
      ['pending', 'Pending'],
      ['sent', 'Sent'],
      ['superseded', 'Superseded'],
      ['failed', 'Failed'],
    ],
    { default: 'pending', help: 'Superseded: replaced by a later status.' },
  )
  outcome!: string;

  @Text({ help: 'Reason, as a sentence.' })
  reason!: string;

  @Json({ default: [], schema: ATTEMPTS, help: 'Result of each attempt.' })
  attempts!: StatusPostAttempt[];

  @DateTime({ columnDefault: 'now()', help: 'Time of the next attempt.' })
  next_attempt!: string | null;

  @DateTime({ help: 'Time of the final outcome.' })
  finished!: string | null;

  /**
   * URL of the post. Internal, because its path can contain more than readers of the job are
   * allowed to see.
   */
  @Text({ internal: true })
  url!: string;

  /** Lease number, which is the number of leases so far. */
  @Integer({ internal: true, default: 0 })
  attempt!: number;

  @DateTime({ internal: true })
  lease_until!: string | null;
}
