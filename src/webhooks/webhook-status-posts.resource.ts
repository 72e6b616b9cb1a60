import { refersTo } from '../access/predicates.js';
import type { Predicate } from '../common/access.js';
import { defineResource, resource } from '../common/resource/define-resource.js';
import { and, or } from '../database/sql.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { WebhookStatusPost } from './webhook-status-post.entity.js';

/** Permits runs that a webhook can launch, and that the caller can read. */
const isReadableRun: Predicate = (alias, actor) =>
  or(
    ...RECEIVER_KINDS.map(({ runType }) => {
      const { partCondition, policy } = resource(runType);
      return and(partCondition(alias), policy.read(alias, actor));
    }),
  );

export const webhookStatusPosts = defineResource({
  path: 'webhook_status_posts',
  type: 'webhook_status_post',
  entity: WebhookStatusPost,
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  summary: ['id', 'status', 'state', 'outcome'],
  policy: { read: refersTo('job_id', 'unified_job', isReadableRun) },
});
