import { hasRole } from '../access/predicates.js';
import { anyOf, superusersOnly } from '../common/access.js';
import { defineResource, hasMany, manyToMany } from '../common/resource/define-resource.js';
import { preferredGroups } from '../instances/sublists.js';
import { organizationExtension, ORGANIZATION_SHOWS } from './organization-counts.js';
import { Organization } from './organization.entity.js';
import { OrganizationHooks } from './organization.hooks.js';

const ADMIN_ROLES = [
  'execute_role',
  'project_admin_role',
  'inventory_admin_role',
  'credential_admin_role',
  'workflow_admin_role',
  'notification_admin_role',
  'job_template_admin_role',
  'execution_environment_admin_role',
  'approval_role',
] as const;

const notifications = (event: string) =>
  manyToMany('notification_template', {
    table: 'organization_notifications',
    sourceColumn: 'organization_id',
    fixed: { event },
  });

export const organizations = defineResource({
  path: 'organizations',
  type: 'organization',
  entity: Organization,
  pages: { list: { about: 'Owners of the other objects, with their members and roles.' } },
  hooks: OrganizationHooks,
  naturalKey: ['name'],
  unique: { organizations_name_key: { name: 'Organization with this Name already exists.' } },
  roles: [
    { field: 'admin_role' },
    ...ADMIN_ROLES.map((field) => ({ field, impliedBy: ['admin_role'] })),
    { field: 'auditor_role', impliedBy: ['admin_role'] },
    { field: 'member_role', impliedBy: ['admin_role'] },
    { field: 'read_role', impliedBy: ['member_role', 'auditor_role', ...ADMIN_ROLES] },
  ],
  policy: {
    read: hasRole('organization', 'read_role'),
    add: () => superusersOnly,
    change: hasRole('organization', 'admin_role'),
    delete: hasRole('organization', 'admin_role'),
    actions: {
      administer: hasRole('organization', 'admin_role'),
      member: hasRole('organization', 'member_role'),
      audit: hasRole('organization', 'auditor_role'),
      attach_notifications: anyOf(
        hasRole('organization', 'admin_role'),
        hasRole('organization', 'auditor_role'),
      ),
      ...Object.fromEntries(
        ADMIN_ROLES.map((field) => [field.replace('_role', ''), hasRole('organization', field)]),
      ),
    },
  },
  relations: {
    instance_groups: preferredGroups('organization'),
    galaxy_credentials: manyToMany('credential', {
      table: 'organization_galaxy_credentials',
      sourceColumn: 'organization_id',
      ordered: true,
    }),
    execution_environments: hasMany('execution_environment', 'organization'),
    applications: hasMany('o_auth2_application', 'organization'),
    teams: hasMany('team', 'organization'),
    projects: hasMany('project', 'organization'),
    inventories: hasMany('inventory', 'organization'),
    credentials: hasMany('credential', 'organization'),
    job_templates: hasMany('job_template', 'organization'),
    workflow_job_templates: hasMany('workflow_job_template', 'organization'),
    notification_templates: hasMany('notification_template', 'organization'),
    notification_templates_started: notifications('started'),
    notification_templates_success: notifications('success'),
    notification_templates_error: notifications('error'),
    notification_templates_approvals: notifications('approvals'),
  },
  extend: organizationExtension,
  shows: ORGANIZATION_SHOWS,
});
