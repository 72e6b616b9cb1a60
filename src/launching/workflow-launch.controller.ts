import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { itemAt } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import {
  BOOLEAN,
  freeObject,
  INTEGER,
  list,
  object,
  STRING,
  WIDE_INTEGER,
} from '../common/fields/json-schema.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import {
  ALL_OPEN,
  NOTHING_OPEN,
  Route,
  type Caller,
  type OpenParts,
} from '../common/rest/route.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { LaunchBody, promptsOfBody, PROMPTS_BODY_FIELDS } from '../prompts/launch-body.js';
import { ASK_SWITCHES, WORKFLOW_PROMPTS } from '../prompts/launch-options.js';
import { launchForm, needsOf } from '../prompts/launch-form.js';
import { workflowJobs } from '../workflows/workflow-jobs.resource.js';
import { launchedReply } from '../runs/launched-reply.js';
import { LaunchSubjects } from './launch-subjects.service.js';
import { describeWorkflowLaunch } from './workflow-launch-needs.js';
import { WorkflowJobLauncher } from './workflow-job-launcher.service.js';
import { workflowTemplates } from '../workflow-templates/workflow-templates.resource.js';

const WORKFLOW_LAUNCH_NEEDS = object({
  can_start_without_user_input: BOOLEAN,
  ...Object.fromEntries(WORKFLOW_PROMPTS.map((field) => [ASK_SWITCHES[field], BOOLEAN])),
  survey_enabled: BOOLEAN,
  variables_needed_to_start: list(STRING),
  node_templates_missing: list(INTEGER),
  node_prompts_rejected: list(INTEGER),
  workflow_job_template_data: object({ id: INTEGER, name: STRING, description: STRING }),
  defaults: freeObject("The template's own value of each launch field."),
});

const asked: readonly string[] = WORKFLOW_PROMPTS;
const BODY = PROMPTS_BODY_FIELDS.filter(({ name }) => asked.includes(name));

/** Returns the fields of the launch form: the workflow's prompts. */
async function askedBy({ services, actor, parent }: Caller): Promise<OpenParts> {
  if (!parent) return NOTHING_OPEN;
  const subject = await services.find(LaunchSubjects).load(parent.id, actor);
  const needs = needsOf(describeWorkflowLaunch(subject));
  return { ...ALL_OPEN, fields: launchForm(needs, subject.template.survey) };
}

/** Launches a workflow job template (docs/contract/launching.md#launch). */
@ApiTags('workflow_job_templates')
@Controller('api/v2/workflow_job_templates/:id/launch')
export class WorkflowLaunchController {
  constructor(
    private readonly resources: ResourceService,
    private readonly subjects: LaunchSubjects,
    private readonly launches: WorkflowJobLauncher,
  ) {}

  @Route({
    kind: 'document',
    link: 'launch',
    access: 'authenticated',
    operationId: 'workflow_job_template_launch_needs',
    summary: 'What a launch of the workflow needs and asks for.',
    parent: workflowTemplates,
    response: WORKFLOW_LAUNCH_NEEDS,
  })
  @Get()
  async needs(@Target() { id }: Row, @CurrentActor() actor: Actor): Promise<object> {
    return describeWorkflowLaunch(await this.subjects.load(id, actor));
  }

  @Idempotent()
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'workflow_job_template_launch',
    summary: 'Launch the workflow. Fields the template does not ask for are ignored and listed.',
    parent: workflowTemplates,
    resource: workflowJobs,
    adds: {
      workflow_job: WIDE_INTEGER,
      ignored_fields: freeObject('What was sent and the template does not ask for.'),
    },
    needs: 'start',
    opens: askedBy,
    body: BODY,
    status: 201,
  })
  @Post()
  async launch(
    @Target() { id }: Row,
    @Body() body: LaunchBody,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    const prompts = promptsOfBody(body);
    const launched = await this.launches.launch(
      [{ templateId: id, launchType: 'manual', prompts, createdBy: actor.id }],
      actor,
    );
    const run = itemAt(launched, 0);
    const shown = await launchedReply(this.resources, run, actor);
    return { ...shown, ignored_fields: run.ignored };
  }
}
