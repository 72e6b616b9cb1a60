import { hasRole, hasRoleOn, holdsAny } from '../access/predicates.js';
import { allOf, anyOf, everyone, superusersOnly, type Predicate } from '../common/access.js';
import { defineResource, hasMany, manyToMany } from '../common/resource/define-resource.js';
import { ident, or, sql } from '../database/sql.js';
import { preferredGroups } from '../instances/sublists.js';
import { labeled } from '../labels/label-links.js';
import { JobTemplateHooks } from './job-template.hooks.js';
import { JobTemplate } from './job-template.entity.js';
import { ASK_SWITCHES, launchFieldsOf } from '../prompts/launch-options.js';
import { TEMPLATE_DESTINATIONS, TEMPLATE_PROMPT_SECTION } from '../prompts/prompt-columns.js';
import { JobTemplateExtension, JOB_TEMPLATE_SHOWS } from './job-template.extension.js';
import { templateNotifications } from '../templates/template-notifications.js';
import { uniqueTemplateName } from '../templates/unified-template.entity.js';
import { JOB_WEBHOOK_FIELDS } from '../templates/webhook-template.schema.js';

const hasNoInventory: Predicate = (alias) => sql`${ident(alias, 'inventory_id')} IS NULL`;

export const jobTemplates = defineResource({
  path: 'job_templates',
  type: 'job_template',
  entity: JobTemplate,
  discriminator: 'job_template',
  hooks: JobTemplateHooks,
  naturalKey: ['name', 'organization'],
  unique: uniqueTemplateName('JobTemplate'),
  roles: [
    { field: 'admin_role', impliedByParent: { organization: ['job_template_admin_role'] } },
    {
      field: 'execute_role',
      impliedBy: ['admin_role'],
      impliedByParent: { organization: ['execute_role'] },
    },
    {
      field: 'read_role',
      impliedBy: ['execute_role', 'admin_role'],
      impliedByParent: {
        organization: ['auditor_role'],
        'inventory.organization': ['auditor_role'],
      },
    },
  ],
  capabilities: {
    edit: 'change',
    delete: 'delete',
    start: 'start',
    schedule: 'start',
    copy: 'copy',
  },
  usable: {
    start: ({ project_id: project, inventory_id: inventory, ask_inventory_on_launch: asks }) =>
      project !== null && (inventory !== null || asks === true),
  },
  pages: {
    list: {
      about: 'A playbook, the inventory it runs on, and the prompts of a launch.',
    },
    sections: {
      Playbook: ['project', 'playbook', ...launchFieldsOf('what'), 'start_at_task'],
      'Hosts and variables': launchFieldsOf('where'),
      Options: [
        ...launchFieldsOf('how'),
        'become_enabled',
        'use_fact_cache',
        'force_handlers',
        'allow_simultaneous',
        'prevent_instance_group_fallback',
        'host_config_key',
        'retention_days',
        'retention_runs',
      ],
      'Prompts at launch': TEMPLATE_PROMPT_SECTION,
      Webhooks: JOB_WEBHOOK_FIELDS,
    },
    beside: ASK_SWITCHES,
    unfolded: ['Playbook', 'Hosts and variables'],
    folded: ['Options', 'Webhooks'],
    columns: ['name', 'status', 'project', 'inventory', 'last_job_run'],
  },
  policy: {
    read: hasRole('job_template', 'read_role'),
    // References check the permission to use the project and the inventory.
    add: ({ project }) => (typeof project === 'number' ? everyone : superusersOnly),
    mayAdd: (actor) =>
      or(holdsAny('project', ['use_role'], actor), holdsAny('organization', ['admin_role'], actor)),
    change: hasRole('job_template', 'admin_role'),
    delete: hasRole('job_template', 'admin_role'),
    actions: {
      start: hasRole('job_template', 'execute_role'),
      // Same rule as for creation, applied to the original's fields; its credentials are checked
      // during the copy.
      copy: allOf(
        hasRole('job_template', 'read_role'),
        hasRoleOn('project_id', 'project', 'use_role'),
        anyOf(hasNoInventory, hasRoleOn('inventory_id', 'inventory', 'use_role')),
      ),
      // With the key, a sender can launch the template with any payload, so auditors do not see it.
      manage_webhook_key: hasRole('job_template', 'admin_role'),
    },
  },
  relations: {
    schedules: hasMany('schedule', 'unified_job_template'),
    ...templateNotifications('started', 'success', 'error'),
    credentials: manyToMany('credential', {
      table: 'job_template_credentials',
      sourceColumn: 'job_template_id',
    }),
    labels: labeled('job_template'),
    instance_groups: preferredGroups('job_template'),
    jobs: hasMany('job', 'job_template'),
    slice_workflow_jobs: hasMany('workflow_job', 'job_template'),
  },
  destinations: [
    { decidedBy: ['project', 'playbook', ...TEMPLATE_DESTINATIONS], protects: ['credentials'] },
  ],
  extension: JobTemplateExtension,
  shows: JOB_TEMPLATE_SHOWS,
});
