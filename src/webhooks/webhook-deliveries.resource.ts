import { hasRoleOn } from '../access/predicates.js';
import { anyOf, type Predicate } from '../common/access.js';
import { totalsBy } from '../common/resource/stored-totals.js';
import { defineResource } from '../common/resource/define-resource.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { WebhookDelivery, WebhookDeliveryTotal } from './webhook-delivery.entity.js';
import { webhookDeliveryExtension, WEBHOOK_DELIVERY_SHOWS } from './webhook-delivery-extension.js';

/** Returns a predicate: the caller has a role on the template of the delivery. */
const hasTemplateRole = (role: string): Predicate =>
  anyOf(...RECEIVER_KINDS.map(({ type }) => hasRoleOn('template_id', type, role)));

export const webhookDeliveries = defineResource({
  path: 'webhook_deliveries',
  type: 'webhook_delivery',
  label: 'Webhook Delivery',
  entity: WebhookDelivery,
  orderBy: ['-id'],
  // Administrators of the template can see payloads and redeliver them.
  capabilities: { redeliver: 'redeliver' },
  audited: false,
  counter: totalsBy(WebhookDeliveryTotal),
  pages: {
    list: {
      about: 'Events from code hosts and their results.',
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
