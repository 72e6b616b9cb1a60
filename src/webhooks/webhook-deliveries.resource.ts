import { hasRoleOn } from '../access/predicates.js';
import { defineResource } from '../common/resource/define-resource.js';
import { WebhookDeliverySchema } from './webhook-delivery.schema.js';

export const webhookDeliveries = defineResource({
  path: 'webhook_deliveries',
  type: 'webhook_delivery',
  label: 'Webhook Delivery',
  schema: WebhookDeliverySchema,
  table: 'webhook_deliveries',
  orderBy: ['-id'],
  capabilities: {},
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
  policy: { read: hasRoleOn('template_id', 'job_template', 'read_role') },
});
