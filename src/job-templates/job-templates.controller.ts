import { accessList, objectRoles } from '../access/sublists.js';
import { activityOf } from '../activity/sublists.js';
import { attachInstanceGroups } from '../instances/sublists.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { attached, children, SubList } from '../common/rest/sublist.js';
import { attachLabels } from '../labels/sublists.js';
import { attachNotifications } from '../notifications/sublists.js';
import { jobTemplates } from './job-templates.resource.js';
import { SurveyController } from '../templates/survey.controller.js';
import { TemplateCredentials } from './template-credentials.service.js';
import { WebhookKeyController } from '../templates/webhook-key.controller.js';

@Resource(jobTemplates)
@SubList('jobs', children('jobs', { readOnly: true }))
@SubList('slice_workflow_jobs', children('slice_workflow_jobs', { readOnly: true }))
@SubList(
  'credentials',
  attached('credentials', {
    childNeeds: 'use',
    rules: TemplateCredentials,
    check: ({ rules, parent }, child) => rules.assertAttachable(parent, child),
    create: (template) => ({ organization: template.organization_id }),
  }),
)
@SubList('labels', attachLabels())
@SubList('schedules', children('schedules'))
@SubList('instance_groups', attachInstanceGroups())
@SubList('notification_templates_started', attachNotifications())
@SubList('notification_templates_success', attachNotifications())
@SubList('notification_templates_error', attachNotifications())
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
export class JobTemplatesController extends ResourceController(jobTemplates) {}

@Resource(jobTemplates, 'api/v2/job_templates/:id/survey_spec')
export class JobTemplateSurveyController extends SurveyController {}

@Resource(jobTemplates, 'api/v2/job_templates/:id/webhook_key')
export class JobTemplateWebhookKeyController extends WebhookKeyController {}
