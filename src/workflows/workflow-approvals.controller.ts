import { Get, Post } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { Row } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import * as json from '../common/fields/json-schema.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { children, SubList } from '../common/rest/sublist.js';
import { ApprovalDecisions } from './approval-decisions.service.js';
import { workflowApprovals } from './workflow-approvals.resource.js';

const CAN_DECIDE = {
  summary: 'Return whether the caller can decide on the approval.',
  parent: workflowApprovals,
  response: json.object({
    can_approve_or_deny: json.described(json.BOOLEAN, 'True if the caller may decide.'),
  }),
} as const satisfies Partial<RouteInfo>;

const DECIDE = {
  parent: workflowApprovals,
  needs: 'approve',
  refusal: 'User does not have permission to approve or deny this workflow.',
  status: 204,
} as const satisfies Partial<RouteInfo>;

@Resource(workflowApprovals)
@SubList('notifications', children('notifications', { readOnly: true }))
export class WorkflowApprovalsController extends ResourceController(workflowApprovals) {
  constructor(private readonly decisions: ApprovalDecisions) {
    super();
  }

  @Route({ ...CAN_DECIDE, link: 'approve', operationId: 'workflow_approvals_can_approve' })
  @Get(':id/approve')
  canApprove(@Target() approval: Row, @CurrentActor() actor: Actor): Promise<object> {
    return this.canDecide(approval, actor);
  }

  @Route({
    ...DECIDE,
    operationId: 'workflow_approvals_approve',
    summary: 'Approve; the workflow continues along its success and always paths.',
  })
  @Post(':id/approve')
  approve(@Target() approval: Row, @CurrentActor() actor: Actor): Promise<void> {
    return this.decisions.decide(approval, 'successful', actor);
  }

  @Route({ ...CAN_DECIDE, link: 'deny', operationId: 'workflow_approvals_can_deny' })
  @Get(':id/deny')
  canDeny(@Target() approval: Row, @CurrentActor() actor: Actor): Promise<object> {
    return this.canDecide(approval, actor);
  }

  @Route({
    ...DECIDE,
    operationId: 'workflow_approvals_deny',
    summary: 'Deny; the workflow continues along its failure and always paths.',
  })
  @Post(':id/deny')
  deny(@Target() approval: Row, @CurrentActor() actor: Actor): Promise<void> {
    return this.decisions.decide(approval, 'failed', actor);
  }

  private async canDecide(approval: Row, actor: Actor): Promise<object> {
    const shown = await this.services.resources.show(workflowApprovals, approval, actor);
    return { can_approve_or_deny: shown.can_approve_or_deny };
  }
}
