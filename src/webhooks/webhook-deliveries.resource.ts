import { hasRoleOn } from '../access/predicates.js';
import { anyOf, type Predicate } from '../common/access.js';
import { totalsBy } from '../common/resource/stored-totals.js';
import { defineResource, extendEach, type Row } from '../common/resource/define-resource.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { WebhookDelivery, WebhookDeliveryTotal } from './webhook-delivery.entity.js';
import { parseExact } from '../common/exact-json.js';
import * as json from '../common/fields/json-schema.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { redeliverable } from './webhook-deliveries.repository.js';

const WEBHOOK_DELIVERY_SHOWS: ShownMembers = {
  fields: { payload: json.anyValue('JSON as received; only for administrators of the template.') },
  optional: ['payload'],
  related: ['redeliver'],
};

/**
 * Adds the URL for redelivery, and the payload. Only the detail shows the payload, and only to administrators
 * of the template: the payload can contain data that the code host shows only to members of its project.
 */
async function webhookDeliveryExtension(
  rows: readonly Row[],
  { detail, database }: RepresentContext,
): Promise<Map<number, Extension>> {
  const permitted = rows.filter((row) => row.can_redeliver === true).map(({ id }) => id);
  const redeliverableIds = new Set(await database.ids(redeliverable(permitted)));
  return extendEach(rows, (row) => {
    const redeliver = `/api/v2/webhook_deliveries/${row.id}/redeliver/`;
    const mayRedeliver = redeliverableIds.has(row.id);
    const extension: Extension = {
      ...(mayRedeliver ? { related: { redeliver } } : {}),
      summary_fields: { user_capabilities: { redeliver: mayRedeliver } },
    };
    const fields = detail && row.can_redeliver ? { payload: toValue(row.payload) } : {};
    return { ...extension, fields };
  });
}

const toValue = (payload: unknown): unknown =>
  typeof payload === 'string' ? parseExact(payload) : null;

/** Returns a predicate: the caller has a role on the template of the delivery. */
const hasTemplateRole = (role: string): Predicate =>
  anyOf(...RECEIVER_KINDS.map(({ type }) => hasRoleOn('template_id', type, role)));

export const webhookDeliveries = defineResource({
  path: 'webhook_deliveries',
  type: 'webhook_delivery',
  label: 'Webhook Delivery',
  entity: WebhookDelivery,
  orderBy: ['-id'],
  // Administrators of the template can see payloads and redeliver deliveries.
  capabilities: { redeliver: 'redeliver' },
  audited: false,
  counter: totalsBy(WebhookDeliveryTotal),
  pages: {
    list: {
      about: 'Deliveries from code hosts and their results.',
    },
    emptyLink: { text: 'Connect a repository to a template', list: 'unified_job_templates' },
    within: 'template',
    sections: {
      Request: [
        'service',
        'event',
        'guid',
        'ref',
        'ref_name',
        'head_ref',
        'source',
        'size',
        'payload',
      ],
      Result: ['answer', 'verdict', 'reason', 'job'],
    },
  },
  summary: ['id', 'event', 'guid', 'verdict'],
  unique: {
    webhook_deliveries_dedupe_key: 'The delivery was received already.',
    webhook_deliveries_body_digest: 'The body was received already.',
  },
  policy: {
    read: hasTemplateRole('read_role'),
    actions: { redeliver: hasTemplateRole('admin_role') },
  },
  extend: webhookDeliveryExtension,
  shows: WEBHOOK_DELIVERY_SHOWS,
});
