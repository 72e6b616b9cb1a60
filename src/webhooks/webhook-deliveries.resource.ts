import { hasRoleOn } from '../access/predicates.js';
import { defineResource } from '../common/resource/define-resource.js';
import { WebhookDeliverySchema } from './webhook-delivery.schema.js';
import { webhookDeliveryExtension } from './webhook-delivery-extension.js';

export const webhookDeliveries = defineResource({
  path: 'webhook_deliveries',
  type: 'webhook_delivery',
  label: 'Webhook Delivery',
  schema: WebhookDeliverySchema,
  table: 'webhook_deliveries',
  orderBy: ['-id'],
  // Whoever administers the template may see payloads and send them again.
  capabilities: { redeliver: 'redeliver' },
  audited: false,
  summary: ['id', 'event', 'guid', 'verdict'],
  unique: [
    {
      name: 'webhook_deliveries_dedupe_key',
      columns: ['template_id', 'service', 'dedupe_key'],
      field: '__all__',
      message: 'The delivery was received already.',
    },
  ],
  policy: {
    read: hasRoleOn('template_id', 'job_template', 'read_role'),
    actions: { redeliver: hasRoleOn('template_id', 'job_template', 'admin_role') },
  },
  extend: webhookDeliveryExtension,
});
