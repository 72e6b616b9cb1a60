import { Delete, Get, Post, Req } from '@nestjs/common';
import { accessList, objectRoles } from '../access/sublists.js';
import { activityOf } from '../activity/sublists.js';
import { BadRequest } from '../common/http/errors.js';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route } from '../common/http/route.js';
import { Copyable } from '../common/resource/copy.js';
import { Machinery } from '../common/resource/machinery.js';
import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { SubList } from '../common/resource/sublist.js';
import { attached, children } from '../common/resource/sublist-kinds.js';
import { attachLabels } from '../labels/sublists.js';
import { attachNotifications } from '../notifications/sublists.js';
import { copiedValues, copyAttachments } from './job-template-copy.js';
import { jobTemplates } from './job-templates.resource.js';
import { SURVEY_FIELDS } from './survey.schema.js';
import { SurveyError } from './survey-spec.js';
import { maskSurvey } from './survey-secrets.js';
import { SurveyService } from './survey.service.js';
import { assertAttachable } from './template-credentials.js';

jobTemplates.links.set('survey_spec', 'survey_spec');

const ROUTE = { access: 'authenticated', parent: jobTemplates } as const;

@Resource(jobTemplates)
@Copyable({ values: copiedValues, copied: copyAttachments })
@SubList('jobs', children('jobs', { readOnly: true }))
@SubList(
  'credentials',
  attached('credentials', {
    childNeeds: 'use',
    check: assertAttachable,
    create: (template) => ({ organization: template.organization_id }),
  }),
)
@SubList('labels', attachLabels())
@SubList('notification_templates_started', attachNotifications())
@SubList('notification_templates_success', attachNotifications())
@SubList('notification_templates_error', attachNotifications())
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
export class JobTemplatesController extends ResourceController(jobTemplates) {
  constructor(
    machinery: Machinery,
    private readonly surveys: SurveyService,
  ) {
    super(machinery);
  }

  @Get(':id/survey_spec')
  @Route({
    ...ROUTE,
    kind: 'document',
    operationId: 'job_templates_survey_spec_read',
    summary: 'Questions asked at launch; an empty object when there are none.',
    response: { type: 'object', additionalProperties: true },
  })
  async survey(@Req() { params, actor }: ApiRequest): Promise<object> {
    const template = await this.machinery.resources.load(jobTemplates, params.id, actor);
    return maskSurvey(template.survey_spec);
  }

  @Post(':id/survey_spec')
  @Route({
    ...ROUTE,
    kind: 'action',
    needs: 'change',
    operationId: 'job_templates_survey_spec_replace',
    summary: 'Replace the questions asked at launch.',
    body: SURVEY_FIELDS,
    status: 200,
  })
  async replaceSurvey(@Req() { params, body, actor }: ApiRequest): Promise<Reply> {
    try {
      await this.surveys.replace(jobTemplates, params.id, body, actor);
      return new Reply(200);
    } catch (error) {
      throw error instanceof SurveyError ? new BadRequest(error.message) : error;
    }
  }

  @Delete(':id/survey_spec')
  @Route({
    ...ROUTE,
    kind: 'action',
    needs: 'change',
    operationId: 'job_templates_survey_spec_delete',
    summary: 'Remove the questions asked at launch.',
    status: 200,
  })
  async removeSurvey(@Req() { params, actor }: ApiRequest): Promise<Reply> {
    await this.surveys.remove(jobTemplates, params.id, actor);
    return new Reply(200);
  }
}
