import { through } from '../access/predicates.js';
import { defineResource } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { WebhookStatusPostSchema } from './webhook-status-post.schema.js';

export const webhookStatusPosts = defineResource({
  path: 'webhook_status_posts',
  type: 'webhook_status_post',
  schema: WebhookStatusPostSchema,
  table: 'webhook_status_posts',
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'status', 'state', 'outcome'],
  policy: {
    read: (alias, actor) =>
      through('job_id', 'unified_jobs', resource('job').policy.read)(alias, actor),
  },
});
