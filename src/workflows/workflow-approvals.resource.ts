import { hasRoleOn, refersTo } from '../access/predicates.js';
import { anyOf, type Predicate } from '../common/access.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import { runsOrganization } from '../runs/jobs.resource.js';
import { APPROVAL_SHOWS, WorkflowApprovalExtension } from './workflow-approval.extension.js';
import { WorkflowApprovalHooks } from './workflow-approval.hooks.js';
import { WorkflowApproval } from './workflow-approval.entity.js';

/**
 * Returns a predicate: the caller has a role on the template of the waiting run. Job templates have
 * no approval role, so their administrators decide.
 */
const onTemplateOfRun = (role: string, jobTemplateRole = role): Predicate =>
  refersTo(
    'workflow_job_id',
    'unified_job',
    anyOf(
      hasRoleOn('unified_job_template_id', 'workflow_job_template', role),
      hasRoleOn('job_template_id', 'job_template', jobTemplateRole),
    ),
  );

export const workflowApprovals = defineResource({
  path: 'workflow_approvals',
  type: 'workflow_approval',
  entity: WorkflowApproval,
  discriminator: 'workflow_approval',
  orderBy: ['id'],
  pages: {
    list: { about: 'Steps of workflows, and jobs from forks, that wait for a decision.' },
    linkedOrder: '-id',
    columns: ['name', 'workflow_job', 'status', 'created', 'approval_expiration', 'launched_by'],
  },
  hooks: WorkflowApprovalHooks,
  summary: ['id', 'name', 'description', 'status', 'failed', 'elapsed', 'type', 'timed_out'],
  summaryKeys: { unified_job_template: null },
  capabilities: { delete: 'delete', start: 'start' },
  // Approvals are approved or denied; only the workflow starts them.
  usable: { start: () => false },
  policy: {
    read: anyOf(onTemplateOfRun('read_role'), runsOrganization),
    delete: onTemplateOfRun('admin_role'),
    actions: { approve: onTemplateOfRun('approval_role', 'admin_role') },
  },
  aliases: { workflow_approval_template: 'unified_job_template' },
  relations: {
    notifications: hasMany('notification', 'unified_job'),
  },
  extension: WorkflowApprovalExtension,
  shows: APPROVAL_SHOWS,
});
