import { Body, Post } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { activityOf } from '../activity/sublists.js';
import { Route } from '../common/rest/route.js';
import type { Row } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { attached, SubList } from '../common/rest/sublist.js';
import { attachLabels } from '../labels/sublists.js';
import { WorkflowApprovalTemplate } from './workflow-approval-template.entity.js';
import { workflowApprovalTemplates } from './workflow-approval-templates.resource.js';
import { ApprovalTemplates } from './approval-templates.service.js';
import { credentialsOfSavedLaunch } from '../prompts/sublists.js';
import { childNodes } from './node-edges.service.js';
import { workflowJobTemplateNodes } from './workflow-job-template-nodes.resource.js';

@Resource(workflowJobTemplateNodes)
@SubList('success_nodes', childNodes('success'))
@SubList('failure_nodes', childNodes('failure'))
@SubList('always_nodes', childNodes('always'))
@SubList('credentials', credentialsOfSavedLaunch())
@SubList('labels', attachLabels())
@SubList('instance_groups', attached('instance_groups', { childNeeds: 'use' }))
@SubList('activity_stream', activityOf())
export class WorkflowJobTemplateNodesController extends ResourceController(
  workflowJobTemplateNodes,
) {
  constructor(private readonly approvals: ApprovalTemplates) {
    super();
  }

  @Route({
    kind: 'create',
    link: 'create_approval_template',
    operationId: 'workflow_job_template_nodes_create_approval_template',
    summary: 'Replace the template of the node by an approval.',
    parent: workflowJobTemplateNodes,
    resource: workflowApprovalTemplates,
    needs: 'change',
  })
  @Post(':id/create_approval_template')
  createApprovalTemplate(
    @Target() target: Row,
    @Body() body: WorkflowApprovalTemplate,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    const { database, resources } = this.services;
    return database.transaction(async () => {
      const node = await resources.lock(workflowJobTemplateNodes, target, actor);
      // No further permission: users who can change the node can add an approval.
      const authorize = (): Promise<void> => Promise.resolve();
      const created = await resources.insert(
        workflowApprovalTemplates,
        { ...body },
        actor,
        authorize,
      );
      await this.approvals.assign(node, created);
      const shown = await resources.load(workflowApprovalTemplates, created.id, actor);
      return resources.show(workflowApprovalTemplates, shown, actor);
    });
  }
}
