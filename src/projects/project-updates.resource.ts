import { hasRoleOn } from '../access/predicates.js';
import { anyOf, isActor } from '../common/access.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import { hasTemplate, RUN_PAGES, runsOrganization } from '../runs/jobs.resource.js';
import { RUN_TOTALS } from '../runs/run-total.entity.js';
import { ProjectUpdate } from './project-update.entity.js';
import { isSynced } from './projects.resource.js';
import { TemplateRunExtension, TEMPLATE_RUN_SHOWS } from '../runs/template-run.extension.js';
import { RunHooks } from '../runs/run.hooks.js';

export const projectUpdates = defineResource({
  path: 'project_updates',
  type: 'project_update',
  entity: ProjectUpdate,
  discriminator: 'project_update',
  orderBy: ['id'],
  auditParent: { field: 'project', type: 'project' },
  hooks: RunHooks,
  summary: ['id', 'name', 'description', 'status', 'failed'],
  capabilities: { delete: 'delete', start: 'start' },
  usable: { start: (row) => isSynced(row) && hasTemplate(row) },
  pages: { ...RUN_PAGES, emptyLink: { text: 'Sync a project', list: 'projects' } },
  policy: {
    read: anyOf(hasRoleOn('unified_job_template_id', 'project', 'read_role'), runsOrganization),
    delete: hasRoleOn('organization_id', 'organization', 'admin_role'),
    actions: {
      start: hasRoleOn('unified_job_template_id', 'project', 'update_role'),
      cancel: anyOf(
        isActor('created_by_id'),
        hasRoleOn('unified_job_template_id', 'project', 'update_role'),
      ),
    },
  },
  aliases: { credentials: 'credential', project_update_events: 'events' },
  relations: {
    events: hasMany('job_event', 'job'),
    scm_inventory_updates: hasMany('inventory_update', 'source_project_update'),
    notifications: hasMany('notification', 'unified_job'),
  },
  counter: RUN_TOTALS,
  extension: TemplateRunExtension,
  shows: TEMPLATE_RUN_SHOWS,
});
