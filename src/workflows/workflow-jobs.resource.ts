import { hasRoleOn } from '../access/predicates.js';
import { anyOf, isActor, superusersOnly } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { WorkflowJobHooks } from './workflow-job.hooks.js';
import { WorkflowJobSchema } from './workflow-job.schema.js';
import { workflowJobExtension, WORKFLOW_JOB_SHOWS } from './workflow-job-extension.js';

const administers = hasRoleOn('organization_id', 'organization', 'admin_role');

export const workflowJobs = defineResource({
  path: 'workflow_jobs',
  type: 'workflow_job',
  schema: WorkflowJobSchema,
  table: 'unified_jobs',
  discriminator: 'workflow_job',
  orderBy: ['id'],
  hooks: WorkflowJobHooks,
  summary: ['id', 'name', 'description', 'status', 'failed', 'elapsed', 'type', 'canceled_on'],
  capabilities: { delete: 'delete', start: 'start' },
  policy: {
    // Whoever launched it may open it, and is shown only its jobs in lists (decision 10).
    read: anyOf(isActor('created_by_id'), administers),
    list: administers,
    delete: superusersOnly,
    actions: {
      // The rights on what is launched are asked for each node.
      start: isActor('created_by_id'),
      cancel: isActor('created_by_id'),
    },
  },
  relations: {
    workflow_nodes: {
      kind: 'has-many',
      target: () => resource('workflow_job_node'),
      field: 'workflow_job',
    },
    notifications: {
      kind: 'has-many',
      target: () => resource('notification'),
      field: 'unified_job',
    },
  },
  extend: workflowJobExtension,
  shows: WORKFLOW_JOB_SHOWS,
});
