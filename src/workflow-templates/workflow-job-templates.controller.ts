import { accessList, objectRoles } from '../access/sublists.js';
import { activityOf } from '../activity/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { children, SubList } from '../common/rest/sublist.js';
import { attachLabels } from '../labels/sublists.js';
import { attachNotifications } from '../notifications/sublists.js';
import { SurveyController } from '../templates/survey.controller.js';
import { WebhookKeyController } from '../templates/webhook-key.controller.js';
import { workflowJobTemplates } from './workflow-job-templates.resource.js';

@Resource(workflowJobTemplates)
@SubList('workflow_nodes', children('workflow_nodes'))
@SubList('workflow_jobs', children('workflow_jobs', { readOnly: true }))
@SubList('labels', attachLabels())
@SubList('schedules', children('schedules'))
@SubList('notification_templates_started', attachNotifications())
@SubList('notification_templates_success', attachNotifications())
@SubList('notification_templates_error', attachNotifications())
@SubList('notification_templates_approvals', attachNotifications())
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
export class WorkflowJobTemplatesController extends ResourceController(workflowJobTemplates) {}

@Resource(workflowJobTemplates, 'api/v2/workflow_job_templates/:id/survey_spec')
export class WorkflowJobTemplateSurveyController extends SurveyController {}

@Resource(workflowJobTemplates, 'api/v2/workflow_job_templates/:id/webhook_key')
export class WorkflowJobTemplateWebhookKeyController extends WebhookKeyController {}
