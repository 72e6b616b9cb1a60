import { permit, type Actor } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { ident, sql, type Sql } from '../database/sql.js';
import { nodeExtension, NODE_SHOWS } from './workflow-job-extension.js';
import { WorkflowJobNodeSchema } from './workflow-job-node.schema.js';
import { workflowJobs } from './workflow-jobs.resource.js';

/** Nodes are seen by those who see their workflow job. */
const ofWorkflowJob =
  (action: 'read' | 'list') =>
  (alias: string, actor: Actor): Sql => sql`${ident(alias, 'workflow_job_id')} IN (
    SELECT wfj.id FROM unified_jobs wfj
    WHERE ${workflowJobs.own('wfj')} AND ${permit(workflowJobs.policy, action, 'wfj', actor)})`;

export const workflowJobNodes = defineResource({
  path: 'workflow_job_nodes',
  type: 'workflow_job_node',
  schema: WorkflowJobNodeSchema,
  table: 'workflow_job_nodes',
  orderBy: ['id'],
  capabilities: {},
  audited: false,
  summaryKeys: { unified_job_template: null, job: null },
  policy: { read: ofWorkflowJob('read'), list: ofWorkflowJob('list') },
  relations: {
    credentials: {
      kind: 'many-to-many',
      target: () => resource('credential'),
      table: 'workflow_job_node_credentials',
      near: 'workflow_job_node_id',
      far: 'credential_id',
    },
  },
  extend: nodeExtension,
  shows: NODE_SHOWS,
});
