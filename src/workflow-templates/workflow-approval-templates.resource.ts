import { heldObjects } from '../access/role-ancestors.repository.js';
import { withHints, type Predicate } from '../common/access.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import { ident, sql } from '../database/sql.js';
import { WorkflowApprovalTemplateHooks } from './workflow-approval-template.hooks.js';
import { WorkflowApprovalTemplate } from './workflow-approval-template.entity.js';
import {
  WorkflowApprovalTemplateExtension,
  APPROVAL_TEMPLATE_SHOWS,
} from './workflow-approval-template.extension.js';
import { templatesRunBy } from './workflow-job-template-nodes.repository.js';

/**
 * Returns a predicate: the caller has a role on the workflow whose node uses the approval template.
 */
const onWorkflow = (role: string): Predicate =>
  withHints(
    (alias, actor) => sql`${ident(alias, 'id')} IN (
      ${templatesRunBy(heldObjects('workflow_job_template', role, actor))})`,
    { type: 'workflow_job_template', role },
  );

/** Approval templates, which only `create_approval_template/` of a node creates. Lists omit them. */
export const workflowApprovalTemplates = defineResource({
  path: 'workflow_approval_templates',
  type: 'workflow_approval_template',
  entity: WorkflowApprovalTemplate,
  discriminator: 'workflow_approval_template',
  hooks: WorkflowApprovalTemplateHooks,
  summary: ['id', 'name', 'description', 'timeout'],
  policy: {
    read: onWorkflow('read_role'),
    change: onWorkflow('admin_role'),
    delete: onWorkflow('admin_role'),
    actions: { launch: onWorkflow('execute_role') },
  },
  relations: {
    approvals: hasMany('workflow_approval', 'unified_job_template'),
  },
  extension: WorkflowApprovalTemplateExtension,
  shows: APPROVAL_TEMPLATE_SHOWS,
});
