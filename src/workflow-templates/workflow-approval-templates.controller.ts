import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { children, SubList } from '../common/rest/sublist.js';
import { approvalTemplates } from './approval-templates.resource.js';

@Resource(approvalTemplates)
@SubList('approvals', children('approvals', { readOnly: true }))
@SubList('activity_stream', activityOf())
export class WorkflowApprovalTemplatesController extends ResourceController(approvalTemplates, [
  'retrieve',
  'replace',
  'modify',
  'destroy',
]) {}
