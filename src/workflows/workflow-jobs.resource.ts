import { hasRoleOn } from '../access/predicates.js';
import { allOf, anyOf, isActor, type Predicate } from '../common/access.js';
import { defineResource, hasMany, type Row } from '../common/resource/define-resource.js';
import { ident, sql } from '../database/sql.js';
import { hasTemplate, isOrphan, RUN_PAGES } from '../runs/jobs.resource.js';
import { RUN_TOTALS } from '../runs/run-total.entity.js';
import { RunHooks } from '../runs/run.hooks.js';
import { labeled } from '../labels/label-links.js';
import { WorkflowJob } from './workflow-job.entity.js';
import { WorkflowJobExtension, WORKFLOW_JOB_SHOWS } from './workflow-job.extension.js';

const isBulk: Predicate = (alias) => sql`${ident(alias, 'is_bulk_job')}`;
const isNotBulk: Predicate = (alias) => sql`${ident(alias, 'is_bulk_job')} IS NOT TRUE`;

/**
 * Returns a predicate: the caller has a role on the workflow job template, or on the sliced job
 * template.
 */
const onTemplate = (role: string): Predicate =>
  anyOf(
    hasRoleOn('unified_job_template_id', 'workflow_job_template', role),
    hasRoleOn('job_template_id', 'job_template', role),
  );

const onOrganization = (role: string): Predicate =>
  hasRoleOn('organization_id', 'organization', role);

/** Predicate for the user of a bulk launch, which has no template with roles. */
const launchedBulk = allOf(isBulk, isActor('created_by_id'));
const readable = anyOf(onTemplate('read_role'), onOrganization('admin_role'));

/** Returns true if a workflow job can be launched again: its template exists, or the launch was bulk. */
const hasSource = (row: Row): boolean =>
  row.is_bulk_job === true ||
  (row.is_sliced_job === true ? row.job_template_id !== null : hasTemplate(row));

export const workflowJobs = defineResource({
  path: 'workflow_jobs',
  type: 'workflow_job',
  entity: WorkflowJob,
  discriminator: 'workflow_job',
  orderBy: ['id'],
  auditParent: { field: 'unified_job_template', type: 'workflow_job_template' },
  hooks: RunHooks,
  summary: ['id', 'name', 'description', 'status', 'failed', 'elapsed', 'type', 'canceled_on'],
  summaryKeys: { unified_job_template: null },
  capabilities: { delete: 'delete', start: 'start' },
  usable: { start: hasSource },
  aliases: {
    workflow_job_template: 'unified_job_template',
    workflow_job_nodes: 'workflow_nodes',
  },
  pages: {
    ...RUN_PAGES,
    emptyLink: { text: 'Launch a workflow', list: 'workflow_job_templates' },
  },
  policy: {
    // The user of a bulk launch can read its workflow job, which lists do not show to that user
    // (docs/contract/bulk.md#who-sees-the-workflow-job).
    read: anyOf(launchedBulk, readable),
    list: readable,
    delete: allOf(isNotBulk, onOrganization('workflow_admin_role')),
    actions: {
      // The relaunch itself checks the permissions on the objects of the nodes.
      start: anyOf(launchedBulk, onTemplate('execute_role')),
      cancel: anyOf(
        isActor('created_by_id'),
        onTemplate('admin_role'),
        // Without a template, administrators of the organization can cancel the workflow job.
        allOf(isBulk, onOrganization('admin_role')),
        allOf(isNotBulk, isOrphan, onOrganization('workflow_admin_role')),
      ),
    },
  },
  relations: {
    labels: labeled('workflow_job'),
    workflow_nodes: hasMany('workflow_job_node', 'workflow_job'),
    unified_job_node: hasMany('workflow_job_node', 'job'),
    notifications: hasMany('notification', 'unified_job'),
  },
  counter: RUN_TOTALS,
  extension: WorkflowJobExtension,
  shows: WORKFLOW_JOB_SHOWS,
});
