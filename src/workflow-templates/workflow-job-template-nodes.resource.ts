import { hasRoleOn, holdsAny } from '../access/predicates.js';
import { everyone } from '../common/access.js';
import { defineResource, manyToMany } from '../common/resource/define-resource.js';
import { SAVED_DESTINATIONS } from '../prompts/prompt-columns.js';
import { searchedByTemplate } from '../templates/unified-job-templates.resource.js';
import type { EdgeKind } from '../workflows/workflow-rows.service.js';
import { WorkflowJobTemplateNodeHooks } from './workflow-job-template-node.hooks.js';
import { WorkflowJobTemplateNode } from './workflow-job-template-node.entity.js';
import {
  WorkflowJobTemplateNodeExtension,
  TEMPLATE_NODE_SHOWS,
} from './workflow-job-template-node.extension.js';

const ofWorkflow = (role: string) =>
  hasRoleOn('workflow_job_template_id', 'workflow_job_template', role);

/**
 * Returns the relation to objects of a list prompt. The table names are short, because PostgreSQL limits
 * names to 63 bytes.
 */
const listPrompt = (type: string) =>
  manyToMany(type, { table: `workflow_template_node_${type}s`, sourceColumn: 'node_id' });

const children = (kind: EdgeKind) =>
  manyToMany('workflow_job_template_node', {
    table: 'workflow_job_template_node_edges',
    sourceColumn: 'parent_id',
    targetColumn: 'child_id',
    fixed: { kind },
  });

/**
 * Nodes have no roles of their own: the roles of the workflow apply
 * (docs/contract/access.md#hierarchy).
 */
export const workflowJobTemplateNodes = defineResource({
  path: 'workflow_job_template_nodes',
  type: 'workflow_job_template_node',
  entity: WorkflowJobTemplateNode,
  orderBy: ['id'],
  auditParent: { field: 'workflow_job_template', type: 'workflow_job_template' },
  hooks: WorkflowJobTemplateNodeHooks,
  summary: ['id', 'identifier'],
  summaryKeys: { unified_job_template: null },
  alsoSearched: searchedByTemplate,
  capabilities: {},
  naturalKey: ['identifier', 'workflow_job_template'],
  unique: {
    workflow_job_template_nodes_identifier_key:
      'Workflow Job Template Node with this Workflow job template and Identifier already exists.',
  },
  policy: {
    read: ofWorkflow('read_role'),
    // The references check the permissions on the workflow and on the node's template.
    add: () => everyone,
    mayAdd: (actor) => holdsAny('workflow_job_template', ['admin_role'], actor),
    change: ofWorkflow('admin_role'),
    delete: ofWorkflow('admin_role'),
  },
  aliases: Object.fromEntries(
    ['success', 'failure', 'always'].map((kind) => [
      `workflowjobtemplatenodes_${kind}`,
      `workflow_job_template_node_${kind}_nodes`,
    ]),
  ),
  relations: {
    success_nodes: children('success'),
    failure_nodes: children('failure'),
    always_nodes: children('always'),
    credentials: listPrompt('credential'),
    labels: listPrompt('label'),
    instance_groups: { ...listPrompt('instance_group'), ordered: true },
  },
  destinations: [
    { decidedBy: ['unified_job_template', ...SAVED_DESTINATIONS], protects: ['credentials'] },
    { decidedBy: ['unified_job_template'], protects: ['inventory'] },
  ],
  extension: WorkflowJobTemplateNodeExtension,
  shows: TEMPLATE_NODE_SHOWS,
});
