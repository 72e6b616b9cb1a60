import { permit, type Actor } from '../common/access.js';
import { defineResource, manyToMany } from '../common/resource/define-resource.js';
import { ident, sql, type Sql, and } from '../database/sql.js';
import { labeled } from '../labels/label-links.js';
import { searchedByTemplate } from '../templates/unified-job-templates.resource.js';
import { WorkflowJobNodeExtension, NODE_SHOWS } from './workflow-job-node.extension.js';
import { WorkflowJobNode } from './workflow-job-node.entity.js';
import { workflowJobs } from './workflow-jobs.resource.js';
import type { EdgeKind } from './workflow-rows.service.js';
import { workflowJobsWhere } from './workflow-jobs.repository.js';

/** Returns the relation to the children that start after a given result of their parent. */
const childrenBy = (kind: EdgeKind) =>
  manyToMany('workflow_job_node', {
    table: 'workflow_job_node_edges',
    sourceColumn: 'parent_id',
    targetColumn: 'child_id',
    fixed: { kind },
  });

/** Returns the predicate for nodes: the caller can read their workflow job. */
const ofWorkflowJob =
  (action: 'read' | 'list') =>
  (alias: string, actor: Actor): Sql => sql`${ident(alias, 'workflow_job_id')} IN (
    ${workflowJobsWhere(and(workflowJobs.partCondition('wfj'), permit(workflowJobs.policy, action, 'wfj', actor)))})`;

export const workflowJobNodes = defineResource({
  path: 'workflow_job_nodes',
  type: 'workflow_job_node',
  entity: WorkflowJobNode,
  orderBy: ['id'],
  summary: ['id', 'identifier'],
  capabilities: {},
  audited: false,
  summaryKeys: { unified_job_template: null, job: null },
  alsoSearched: searchedByTemplate,
  policy: { read: ofWorkflowJob('read'), list: ofWorkflowJob('list') },
  aliases: Object.fromEntries(
    ['success', 'failure', 'always'].map((kind) => [
      `workflowjobnodes_${kind}`,
      `workflow_job_node_${kind}_nodes`,
    ]),
  ),
  relations: {
    credentials: manyToMany('credential', {
      table: 'workflow_job_node_credentials',
      sourceColumn: 'workflow_job_node_id',
    }),
    labels: labeled('workflow_job_node'),
    instance_groups: manyToMany('instance_group', {
      table: 'workflow_job_node_instance_groups',
      sourceColumn: 'workflow_job_node_id',
    }),
    success_nodes: childrenBy('success'),
    failure_nodes: childrenBy('failure'),
    always_nodes: childrenBy('always'),
  },
  extension: WorkflowJobNodeExtension,
  shows: NODE_SHOWS,
});
