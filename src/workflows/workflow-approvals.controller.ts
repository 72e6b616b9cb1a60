import { Get, Post, Req } from '@nestjs/common';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { BOOLEAN, object } from '../common/fields/json-schema.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import { Machinery } from '../common/rest/machinery.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { SubList } from '../common/rest/sublist.js';
import { children } from '../common/rest/sublist-kinds.js';
import { ApprovalDecisions } from './approval-decisions.js';
import { workflowApprovals } from './workflow-approvals.resource.js';

workflowApprovals.links.set('approve', 'approve');
workflowApprovals.links.set('deny', 'deny');

const CAN_DECIDE = {
  kind: 'document',
  access: 'authenticated',
  summary: 'Whether the caller can decide on the approval.',
  parent: workflowApprovals,
  response: object({ can_approve_or_deny: BOOLEAN }),
} as const satisfies Partial<RouteInfo>;

const DECIDE = {
  kind: 'action',
  access: 'authenticated',
  parent: workflowApprovals,
  needs: 'approve',
  status: 204,
} as const satisfies Partial<RouteInfo>;

@Resource(workflowApprovals)
@SubList('notifications', children('notifications', { readOnly: true }))
export class WorkflowApprovalsController extends ResourceController(workflowApprovals, [
  'list',
  'retrieve',
  'destroy',
]) {
  constructor(
    machinery: Machinery,
    private readonly decisions: ApprovalDecisions,
  ) {
    super(machinery);
  }

  @Get(':id/approve')
  @Route({ ...CAN_DECIDE, operationId: 'workflow_approvals_can_approve' })
  canApprove(@Req() request: ApiRequest): Promise<object> {
    return this.canDecide(request);
  }

  @Post(':id/approve')
  @Route({
    ...DECIDE,
    operationId: 'workflow_approvals_approve',
    summary: 'Approve: the workflow goes on along its success and always paths.',
  })
  async approve(@Req() { params, actor }: ApiRequest): Promise<Reply> {
    await this.decisions.decide(params.id, 'successful', actor);
    return Reply.noContent();
  }

  @Get(':id/deny')
  @Route({ ...CAN_DECIDE, operationId: 'workflow_approvals_can_deny' })
  canDeny(@Req() request: ApiRequest): Promise<object> {
    return this.canDecide(request);
  }

  @Post(':id/deny')
  @Route({
    ...DECIDE,
    operationId: 'workflow_approvals_deny',
    summary: 'Deny: the workflow goes on along its failure and always paths.',
  })
  async deny(@Req() { params, actor }: ApiRequest): Promise<Reply> {
    await this.decisions.decide(params.id, 'failed', actor);
    return Reply.noContent();
  }

  private async canDecide({ params, actor }: ApiRequest): Promise<object> {
    const shown = await this.machinery.resources.retrieve(workflowApprovals, params.id, actor);
    return { can_approve_or_deny: shown.can_approve_or_deny };
  }
}
