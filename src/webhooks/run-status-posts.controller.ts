import type { Type } from '@nestjs/common';
import { resource } from '../common/resource/registry.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { listOf } from '../common/rest/sublist-kinds.js';
import { sql } from '../database/sql.js';
import type { ReceiverKind } from './receiver-kinds.js';
import { webhookStatusPosts } from './webhook-status-posts.resource.js';

/** What the service was told of one run: `/api/v2/<runs>/<id>/webhook_status_posts/`. */
export function runStatusPostsController({ runs }: ReceiverKind): Type {
  const definition = resource(runs);
  const Runs = ResourceController(definition, []);
  Object.defineProperty(Runs, 'name', { value: `${runs}_status_posts` });
  const posts = listOf(
    () => webhookStatusPosts,
    (run) => sql`t.job_id = ${run.id}`,
    // The parent decides: whoever may read the run may read these.
    { options: () => ({ visible: sql`TRUE` }) },
  );
  SubList('webhook_status_posts', posts)(Runs);
  Resource(definition)(Runs);
  return Runs;
}
