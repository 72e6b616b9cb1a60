import { hasRole, hasRoleOn, holdsAny } from '../access/predicates.js';
import { allOf, everyone, superusersOnly } from '../common/access.js';
import { defineResource, hasMany, type Row } from '../common/resource/define-resource.js';
import { templateNotifications } from '../templates/template-notifications.js';
import { uniqueTemplateName } from '../templates/unified-template.entity.js';
import { WEBHOOK_FIELDS } from '../templates/webhook-template.schema.js';
import { ProjectHooks } from './project.hooks.js';
import { Project } from './project.entity.js';
import { ProjectExtension, PROJECT_SHOWS } from './project.extension.js';

/** Returns true for a project with a source to sync from. */
export const isSynced = ({ scm_type: kind }: Row): boolean => kind !== '';

export const projects = defineResource({
  path: 'projects',
  type: 'project',
  entity: Project,
  discriminator: 'project',
  orderBy: ['id'],
  hooks: ProjectHooks,
  naturalKey: ['name', 'organization'],
  summary: ['id', 'name', 'description', 'status', 'scm_type', 'allow_override'],
  aliases: {
    last_updated: 'last_job_run',
    last_update_failed: 'last_job_failed',
    last_update: 'last_job',
    current_update: 'current_job',
    credentials: 'credential',
  },
  unique: uniqueTemplateName('Project'),
  roles: [
    { field: 'admin_role', impliedByParent: { organization: ['project_admin_role'] } },
    { field: 'use_role', impliedBy: ['admin_role'] },
    { field: 'update_role', impliedBy: ['admin_role'] },
    {
      field: 'read_role',
      impliedBy: ['use_role', 'update_role'],
      impliedByParent: { organization: ['auditor_role'] },
    },
  ],
  capabilities: {
    edit: 'change',
    delete: 'delete',
    start: 'update',
    schedule: 'update',
    copy: 'copy',
  },
  usable: { start: isSynced, schedule: isSynced },
  pages: {
    list: { about: 'Sources of playbooks: synced repositories, or folders of this machine.' },
    sections: {
      Source: [
        'scm_type',
        'scm_url',
        'scm_branch',
        'scm_refspec',
        'credential',
        'signature_validation_credential',
        'scm_revision',
        'local_path',
      ],
      Updates: [
        'scm_update_on_launch',
        'scm_update_cache_timeout',
        'allow_override',
        'default_environment',
        'timeout',
        'scm_clean',
        'scm_delete_on_update',
        'scm_track_submodules',
      ],
      Webhooks: WEBHOOK_FIELDS,
    },
    unfolded: ['Source'],
    columns: [
      'name',
      'status',
      'organization',
      'scm_type',
      'scm_url',
      'scm_branch',
      'last_job_run',
    ],
  },
  policy: {
    read: hasRole('project', 'read_role'),
    // A project without an organization can only be created by a superuser.
    add: ({ organization }) => (organization === null ? superusersOnly : everyone),
    mayAdd: (actor) => holdsAny('organization', ['project_admin_role'], actor),
    change: hasRole('project', 'admin_role'),
    delete: hasRole('project', 'admin_role'),
    actions: {
      use: hasRole('project', 'use_role'),
      update: hasRole('project', 'update_role'),
      copy: allOf(
        hasRole('project', 'read_role'),
        hasRoleOn('organization_id', 'organization', 'project_admin_role'),
      ),
      attach_notifications: hasRole('project', 'admin_role'),
      manage_webhook_key: hasRole('project', 'admin_role'),
    },
  },
  relations: {
    schedules: hasMany('schedule', 'unified_job_template'),
    ...templateNotifications('started', 'success', 'error'),
    project_updates: hasMany('project_update', 'project'),
    scm_inventory_sources: hasMany('inventory_source', 'source_project'),
    job_templates: hasMany('job_template', 'project'),
  },
  destinations: [{ decidedBy: ['scm_type', 'scm_url'], protects: ['credential'] }],
  extension: ProjectExtension,
  shows: PROJECT_SHOWS,
});
