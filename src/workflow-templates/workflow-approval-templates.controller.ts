import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { children, SubList } from '../common/rest/sublist.js';
import { workflowApprovalTemplates } from './workflow-approval-templates.resource.js';

@Resource(workflowApprovalTemplates)
@SubList('approvals', children('approvals', { readOnly: true }))
@SubList('activity_stream', activityOf())
export class WorkflowApprovalTemplatesController extends ResourceController(
  workflowApprovalTemplates,
  ['retrieve', 'replace', 'modify', 'destroy'],
) {}
