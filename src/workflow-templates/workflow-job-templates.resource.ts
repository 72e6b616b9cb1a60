import { hasRole, hasRoleOn, holdsAny } from '../access/predicates.js';
import { allOf, everyone } from '../common/access.js';
import { defineResource, hasMany, resource } from '../common/resource/define-resource.js';
import { labeled } from '../labels/label-links.js';
import { templateNotifications } from '../templates/template-notifications.js';
import { uniqueTemplateName } from '../templates/unified-template.entity.js';
import { JOB_WEBHOOK_FIELDS } from '../templates/webhook-template.schema.js';
import { ASK_SWITCHES, launchFieldsOf } from '../prompts/launch-options.js';
import { WORKFLOW_DESTINATIONS, WORKFLOW_PROMPT_SECTION } from '../prompts/prompt-columns.js';
import { isCredentialOfNode } from './workflow-job-template-nodes.repository.js';
import { WorkflowJobTemplateHooks } from './workflow-job-template.hooks.js';
import { WorkflowJobTemplate } from './workflow-job-template.entity.js';
import { TEMPLATE_SHOWS } from '../templates/template-summaries.service.js';
import { WorkflowJobTemplateExtension } from './workflow-job-template.extension.js';

export const workflowJobTemplates = defineResource({
  path: 'workflow_job_templates',
  type: 'workflow_job_template',
  entity: WorkflowJobTemplate,
  discriminator: 'workflow_job_template',
  hooks: WorkflowJobTemplateHooks,
  naturalKey: ['name', 'organization'],
  unique: uniqueTemplateName('WorkflowJobTemplate'),
  roles: [
    { field: 'admin_role', impliedByParent: { organization: ['workflow_admin_role'] } },
    {
      field: 'execute_role',
      impliedBy: ['admin_role'],
      impliedByParent: { organization: ['execute_role'] },
    },
    {
      field: 'approval_role',
      impliedBy: ['admin_role'],
      impliedByParent: { organization: ['approval_role'] },
    },
    {
      field: 'read_role',
      impliedBy: ['execute_role', 'admin_role', 'approval_role'],
      impliedByParent: { organization: ['auditor_role'] },
    },
  ],
  capabilities: {
    edit: 'change',
    delete: 'delete',
    start: 'start',
    schedule: 'start',
    copy: 'copy',
  },
  pages: {
    list: {
      about: 'Templates that run one after another on success, on failure or always.',
    },
    sections: {
      'Launch fields': launchFieldsOf('what', ({ inWorkflows }) => inWorkflows === true),
      'Hosts and variables': launchFieldsOf('where', ({ inWorkflows }) => inWorkflows === true),
      'Prompts at launch': WORKFLOW_PROMPT_SECTION,
      Webhooks: JOB_WEBHOOK_FIELDS,
    },
    beside: ASK_SWITCHES,
    unfolded: ['Hosts and variables'],
    columns: ['name', 'status', 'organization', 'last_job_run'],
  },
  policy: {
    read: hasRole('workflow_job_template', 'read_role'),
    // The reference checks the role on the organization. The hooks reject a workflow without organization.
    add: () => everyone,
    mayAdd: (actor) => holdsAny('organization', ['workflow_admin_role'], actor),
    change: hasRole('workflow_job_template', 'admin_role'),
    delete: hasRole('workflow_job_template', 'admin_role'),
    actions: {
      start: hasRole('workflow_job_template', 'execute_role'),
      approve: hasRole('workflow_job_template', 'approval_role'),
      copy: allOf(
        hasRole('workflow_job_template', 'read_role'),
        hasRoleOn('organization_id', 'organization', 'workflow_admin_role'),
      ),
      // With the key, a sender can launch the template with any payload, so auditors do not see it.
      manage_webhook_key: hasRole('workflow_job_template', 'admin_role'),
    },
  },
  aliases: { workflow_job_template_nodes: 'workflow_nodes' },
  relations: {
    schedules: hasMany('schedule', 'unified_job_template'),
    ...templateNotifications('started', 'success', 'error', 'approvals'),
    labels: labeled('workflow_job_template'),
    workflow_nodes: hasMany('workflow_job_template_node', 'workflow_job_template'),
    workflow_jobs: hasMany('workflow_job', 'unified_job_template'),
  },
  destinations: [
    {
      decidedBy: WORKFLOW_DESTINATIONS,
      // Credentials of the nodes, which receive prompts and values of the workflow.
      protects: [
        {
          kind: 'computed',
          target: () => resource('credential'),
          condition: isCredentialOfNode,
        },
      ],
    },
  ],
  extension: WorkflowJobTemplateExtension,
  shows: TEMPLATE_SHOWS,
});
