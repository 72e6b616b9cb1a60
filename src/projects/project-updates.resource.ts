import { hasRoleOn } from '../access/predicates.js';
import { anyOf, isActor } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { runsOrganization } from '../runs/jobs.resource.js';
import { projectUpdateExtension, PROJECT_UPDATE_SHOWS } from './project-update-extension.js';
import { ProjectUpdateSchema } from './project-update.schema.js';
import { RunHooks } from '../runs/run.hooks.js';

export const projectUpdates = defineResource({
  path: 'project_updates',
  type: 'project_update',
  schema: ProjectUpdateSchema,
  table: 'unified_jobs',
  discriminator: 'project_update',
  orderBy: ['id'],
  auditParent: { field: 'project', type: 'project' },
  hooks: RunHooks,
  summary: ['id', 'name', 'description', 'status', 'failed'],
  capabilities: { delete: 'delete', start: 'start' },
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
  relations: {
    events: { kind: 'has-many', target: () => resource('job_event'), field: 'job' },
    notifications: {
      kind: 'has-many',
      target: () => resource('notification'),
      field: 'unified_job',
    },
  },
  extend: projectUpdateExtension,
  shows: PROJECT_UPDATE_SHOWS,
});
