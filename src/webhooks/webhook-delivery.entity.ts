import { Column, Entity, Index } from 'typeorm';
import { WIDE } from '../common/fields/column-types.js';
import { Char, Choices, DateTime, Integer, Reference, Text } from '../common/fields/field.js';
import { ReadOnly } from '../common/fields/read-only.decorator.js';
import { TotalRow } from '../common/resource/stored-totals.js';
import { WEBHOOK_SERVICES, type WebhookServiceName } from '../code-hosts/services.js';

/** Record of one delivery, or of several unverified requests (docs/contract/webhooks.md#deliveries). */
@ReadOnly()
@Entity('webhook_deliveries')
@Index('webhook_deliveries_template_idx', ['template_id', 'id'])
@Index('webhook_deliveries_received_idx', ['received', 'id'])
@Index('webhook_deliveries_verdict_idx', ['verdict', 'id'])
@Index('webhook_deliveries_event_idx', ['event', 'id'])
@Index('webhook_deliveries_guid_idx', ['guid', 'id'])
@Index('webhook_deliveries_dedupe_key', ['template_id', 'service', 'dedupe_key'], { unique: true })
@Index('webhook_deliveries_body_digest', ['template_id', 'body_digest'], { unique: true })
export class WebhookDelivery {
  @Integer({ ...WIDE, label: 'ID', help: 'Database id of this object.' })
  id!: number;

  @DateTime({
    nullable: false,
    columnDefault: 'now()',
    help: 'Time at which the delivery was received.',
  })
  received!: string;

  @Reference('unified_job_template', {
    nullable: true,
    index: false,
    help: 'Template of the delivery; null if the template is deleted.',
  })
  template!: Reference | null;

  @Choices(WEBHOOK_SERVICES, { help: 'Code host that sent the delivery.' })
  service!: WebhookServiceName;

  @Char({ search: true, help: 'Name of the event at the code host.' })
  event!: string;

  @Char({ search: true, help: 'Identifier that the code host gave the delivery.' })
  guid!: string;

  @Char({ nullable: true, search: true, help: 'Git reference of the event.' })
  ref!: string | null;

  @Char({ nullable: true, help: 'Branch or tag of the event.' })
  ref_name!: string | null;

  @Char({ nullable: true, help: 'Source branch of the pull request.' })
  head_ref!: string | null;

  @Choices(
    [
      ['accepted', 'Accepted'],
      ['duplicate', 'Duplicate'],
      ['ignored', 'Ignored'],
      ['rejected', 'Rejected'],
    ],
    { help: 'Decision about the delivery.' },
  )
  verdict!: string;

  @Text({ help: 'Reason, as a sentence.' })
  reason!: string;

  @Integer({ default: 202, help: 'Status code of the response.' })
  answer!: number;

  @Reference('unified_job', {
    ...WIDE,
    nullable: true,
    help: 'Run that the delivery launched.',
  })
  job!: Reference | null;

  @Integer({ default: 0, help: 'Size of the body in bytes.' })
  size!: number;

  @Char({ help: 'Address of the sender.' })
  source!: string;

  @Integer({
    default: 1,
    help: 'Number of requests in this record: requests without a valid key are counted in one record.',
  })
  repeats!: number;

  @Reference('webhook_delivery', {
    ...WIDE,
    nullable: true,
    help: 'Original delivery, if this delivery is a redelivery.',
  })
  redelivery_of!: Reference | null;

  @Reference('webhook_delivery', {
    ...WIDE,
    nullable: true,
    help: 'Newer delivery for the same ref; its run replaced the run of this delivery.',
  })
  superseded_by!: Reference | null;

  /** Name of the ref of a push, if the push concerns exactly one ref. */
  @Char({ internal: true, nullable: true })
  push_ref!: string | null;

  /** Name of the code host's user who caused the event. */
  @Char({ internal: true, nullable: true })
  sender!: string | null;

  @Text({ internal: true, nullable: true })
  status_api!: string | null;

  /**
   * The verified JSON as received; null for duplicates, rejections, unsigned connection tests, and
   * payloads that retention removed.
   */
  @Text({ internal: true, nullable: true })
  payload!: string | null;

  /**
   * Key that detects repeated deliveries. Of the verified deliveries, only those that launched a run
   * have a key, so that a failed delivery can be sent again after the problem is fixed. Reset to null
   * when a delivery with the same key arrives after `dedupe_until`. The key of a record of unverified
   * requests contains the second in which the requests arrived.
   */
  @Char({ internal: true, nullable: true })
  dedupe_key!: string | null;

  @DateTime({ internal: true })
  dedupe_until!: string | null;

  /**
   * SHA-256 of the payload. Set for deliveries that launched a run, except redeliveries, if the template
   * deduplicates by body.
   */
  @Char({ internal: true, nullable: true })
  body_digest!: string | null;
}

@Entity('webhook_delivery_totals')
export class WebhookDeliveryTotal extends TotalRow {
  @Column({ type: 'integer', nullable: true })
  template_id!: number | null;
}
