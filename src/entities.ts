import type { EntitySchema } from 'typeorm';
import './access/roles.resource.js';
import './access/tables.js';
import './activity/activity.resource.js';
import './ad-hoc-commands/ad-hoc-commands.resource.js';
import './auth/tables.js';
import './auth/tokens.resource.js';
import './instances/instance-groups.resource.js';
import './instances/instances.resource.js';
import './common/rest/idempotency-table.js';
import './common/outbound/tables.js';
import './common/queue/tables.js';
import { resources } from './common/resource/registry.js';
import { resourceTables } from './common/resource/tables.js';
import './credentials/credential-types.resource.js';
import './credentials/credentials.resource.js';
import { declaredTables, entityOf } from './database/table.js';
import './empty-lists/empty-lists.resource.js';
import './host-metrics/host-metrics.resource.js';
import './inventories/host-facts-table.js';
import './inventories/import/claim-tables.js';
import './inventories/inventories.resource.js';
import './inventories/inventory-inputs-table.js';
import './inventory-sources/constructed-inventories.resource.js';
import './inventory-sources/inventory-sources.resource.js';
import './inventory-sources/inventory-updates.resource.js';
import './runs/events/ad-hoc-command-events.resource.js';
import './runs/events/job-events.resource.js';
import './runs/jobs.resource.js';
import './instances/worker-node-table.js';
import './labels/labels.resource.js';
import './notifications/notification-templates.resource.js';
import './organizations/organizations.resource.js';
import './projects/project-updates.resource.js';
import './projects/projects.resource.js';
import './settings/tables.js';
import './teams/teams.resource.js';
import './job-templates/job-templates.resource.js';
import './templates/unified-templates.resource.js';
import './users/users.resource.js';
import './webhooks/webhook-deliveries.resource.js';
import './webhooks/webhook-status-posts.resource.js';
import './workflow-templates/approval-templates.resource.js';
import './workflow-templates/tables.js';
import './workflow-templates/workflow-template-nodes.resource.js';
import './workflow-templates/workflow-templates.resource.js';
import './workflows/workflow-approvals.resource.js';
import './workflows/workflow-job-nodes.resource.js';
import './workflows/workflow-jobs.resource.js';
import './schedules/schedules.resource.js';

/** Everything that is stored: the TypeORM entities of all declarations above. */
export function entities(): EntitySchema[] {
  const declared = declaredTables();
  const names = new Set(declared.map(({ name }) => name));
  // A link that is more than a link, such as role membership, is declared as a table of its own.
  const ofResources = resourceTables(resources()).filter(({ name }) => !names.has(name));
  return [...ofResources, ...declared].map(entityOf);
}
