import { heldObjects } from '../access/role-ancestors.repository.js';
import { withHints, type Predicate } from '../common/access.js';
import { defineResource, hasMany } from '../common/resource/define-resource.js';
import { ident, sql } from '../database/sql.js';
import { ApprovalTemplateHooks } from './approval-template.hooks.js';
import { ApprovalTemplate } from './approval-template.entity.js';
import {
  ApprovalTemplateExtension,
  APPROVAL_TEMPLATE_SHOWS,
} from './approval-template.extension.js';
import { templatesRunBy } from './workflow-template-nodes.repository.js';

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
export const approvalTemplates = defineResource({
  path: 'workflow_approval_templates',
  type: 'workflow_approval_template',
  entity: ApprovalTemplate,
  discriminator: 'workflow_approval_template',
  hooks: ApprovalTemplateHooks,
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
  extension: ApprovalTemplateExtension,
  shows: APPROVAL_TEMPLATE_SHOWS,
});
