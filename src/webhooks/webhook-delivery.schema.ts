import { WIDE } from '../common/fields/column-types.js';
import { Char, Choices, DateTime, Integer, Reference, Text } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { WEBHOOK_SERVICES, type WebhookServiceName } from '../code-hosts/services.js';

const READ_ONLY = { readOnly: true } as const;

/** One delivery to a receiver, whatever became of it (docs/contract/webhooks.md#deliveries). */
export class WebhookDeliverySchema {
  @Integer({ ...READ_ONLY, ...WIDE, label: 'ID' })
  id!: number;

  @DateTime({ ...READ_ONLY, nullable: false, columnDefault: 'now()' })
  received!: string;

  @Reference(() => resource('unified_job_template'), {
    ...READ_ONLY,
    nullable: true,
    index: false,
    help: 'Template the delivery came for; null once that is deleted.',
  })
  template!: Reference | null;

  @Choices(WEBHOOK_SERVICES, READ_ONLY)
  service!: WebhookServiceName;

  @Char({ ...READ_ONLY, search: true })
  event!: string;

  @Char({ ...READ_ONLY, search: true })
  guid!: string;

  @Char({ ...READ_ONLY, nullable: true, search: true })
  ref!: string | null;

  @Char({ ...READ_ONLY, nullable: true })
  ref_name!: string | null;

  @Char({ ...READ_ONLY, nullable: true })
  head_ref!: string | null;

  @Choices(
    [
      ['accepted', 'Accepted'],
      ['duplicate', 'Duplicate'],
      ['ignored', 'Ignored'],
      ['rejected', 'Rejected'],
    ],
    READ_ONLY,
  )
  verdict!: string;

  @Text({ ...READ_ONLY, help: 'Why, in a sentence.' })
  reason!: string;

  @Integer({ ...READ_ONLY, default: 202, help: 'Status code the sender got.' })
  answer!: number;

  @Reference(() => resource('unified_job'), { ...WIDE, ...READ_ONLY, nullable: true })
  job!: Reference | null;

  @Integer({ ...READ_ONLY, default: 0, help: 'Bytes of the body.' })
  size!: number;

  @Char({ ...READ_ONLY, help: 'Address the delivery came from.' })
  source!: string;

  @Integer({
    ...READ_ONLY,
    default: 1,
    help: 'Requests this record stands for: those that prove no key are counted, not kept one by one.',
  })
  repeats!: number;

  @Reference(() => resource('webhook_delivery'), {
    ...WIDE,
    ...READ_ONLY,
    nullable: true,
    help: 'Delivery this one repeats on request of a user.',
  })
  redelivery_of!: Reference | null;

  @Reference(() => resource('webhook_delivery'), {
    ...WIDE,
    ...READ_ONLY,
    nullable: true,
    help: 'Delivery of a newer push to the same ref, whose job took the place of the job of this one.',
  })
  superseded_by!: Reference | null;

  /** Name of the ref that a push is about, where it is about that one alone. */
  @Char({ internal: true, nullable: true })
  push_ref!: string | null;

  @Text({ internal: true, nullable: true })
  status_api!: string | null;

  /** The verified JSON as received; null for duplicates, rejections and what retention removed. */
  @Text({ internal: true, nullable: true })
  payload!: string | null;

  /**
   * What a repetition is recognised by: only deliveries that launched have one, so that a delivery
   * can be sent again once what stood in its way is mended. Null again when the time in which a body
   * digest counts is over. Counted records use it for the second they stand for.
   */
  @Char({ internal: true, nullable: true })
  dedupe_key!: string | null;

  @DateTime({ internal: true })
  dedupe_until!: string | null;

  /** SHA-256 of the body, where a template lets no body launch twice; only of what launched. */
  @Char({ internal: true, nullable: true })
  body_digest!: string | null;
}
