import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import { itemAt } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import { resourceRef } from '../common/resource/resource-schema.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Route } from '../common/rest/route.js';
import { jobTemplates } from '../job-templates/job-templates.resource.js';
import { LaunchBody, promptsOfBody, PROMPTS_BODY_FIELDS } from '../prompts/launch-body.js';
import { formOf } from '../prompts/launch-form.js';
import { ASK_SWITCHES, PROMPT_FIELDS, WORKFLOW_PROMPTS } from '../prompts/launch-options.js';
import { jobs } from '../runs/jobs.resource.js';
import { PASSWORDS_NEEDED } from '../runs/launched-by.js';
import { launchedReply } from '../runs/launched-reply.js';
import { startedBy } from '../runs/launcher.js';
import { workflowJobTemplates } from '../workflow-templates/workflow-job-templates.resource.js';
import { workflowJobs } from '../workflows/workflow-jobs.resource.js';
import { JobLauncher } from './job-launcher.service.js';
import type { TemplateLauncher } from './template-launcher.js';
import { WorkflowJobLauncher } from './workflow-job-launcher.service.js';

const IGNORED = json.freeObject('Values of the request for which the template has no prompt.');
const TEMPLATE = json.object({ id: json.INTEGER, name: json.STRING, description: json.STRING });

/** Returns the part of the requirements that is the same for every kind of template. */
const needsSchema = (fields: readonly (keyof typeof ASK_SWITCHES)[]) => ({
  can_start_without_user_input: json.described(
    json.BOOLEAN,
    'True if the launch needs no prompts.',
  ),
  ...Object.fromEntries(
    fields.map((field) => [
      ASK_SWITCHES[field],
      json.described(json.BOOLEAN, `True if the launch can set \`${field}\`.`),
    ]),
  ),
  survey_enabled: json.described(
    json.BOOLEAN,
    'True if the launch asks the questions of the survey.',
  ),
  variables_needed_to_start: json.described(
    json.list(json.STRING),
    'Variables of the required questions without a default.',
  ),
  defaults: json.freeObject("The template's own value of each launch field."),
});
const LAUNCH_NEEDS = json.object({
  ...needsSchema(PROMPT_FIELDS),
  passwords_needed_to_start: PASSWORDS_NEEDED,
  credential_needed_to_start: json.described(
    json.BOOLEAN,
    'Always false: no launch requires a credential.',
  ),
  inventory_needed_to_start: json.described(json.BOOLEAN, 'True if the template has no inventory.'),
  job_template_data: json.described(TEMPLATE, 'Template that is launched.'),
});
const WORKFLOW_LAUNCH_NEEDS = json.object({
  ...needsSchema(WORKFLOW_PROMPTS),
  node_templates_missing: json.described(
    json.list(json.INTEGER),
    'Ids of nodes whose template was deleted.',
  ),
  node_prompts_rejected: json.described(
    json.list(json.INTEGER),
    'Ids of nodes with prompts that their templates refuse.',
  ),
  workflow_job_template_data: json.described(TEMPLATE, 'Template that is launched.'),
});

const promptNames: readonly string[] = WORKFLOW_PROMPTS;
const WORKFLOW_BODY = PROMPTS_BODY_FIELDS.filter(({ name }) => promptNames.includes(name));

const openParts = formOf<TemplateLauncher>(({ rules: launcher, actor, parent }) =>
  launcher.form(parent.id, actor),
);

/** Launches templates of one kind (docs/contract/launching.md#launch). */
abstract class TemplateLaunches {
  constructor(
    private readonly resources: ResourceService,
    private readonly launcher: TemplateLauncher,
  ) {}

  protected async needsOf({ id }: Row, actor: Actor): Promise<object> {
    return (await this.launcher.needs(id, actor)).response;
  }

  protected async start({ id }: Row, body: LaunchBody, actor: Actor): Promise<object> {
    const request = {
      ...startedBy(actor),
      templateId: id,
      prompts: promptsOfBody(body),
      credentialPasswords: body.credential_passwords,
    };
    const run = itemAt(await this.launcher.launch([request], actor), 0);
    const shown = await launchedReply(this.resources, run, actor);
    return { ...shown, ignored_fields: run.ignored };
  }
}

@ApiTags('job_templates')
@Controller('api/v2/job_templates/:id/launch')
export class LaunchController extends TemplateLaunches {
  constructor(resources: ResourceService, launcher: JobLauncher) {
    super(resources, launcher);
  }

  @Route({
    link: 'launch',
    operationId: 'job_template_launch_needs',
    summary: 'Fields and prompts of a launch of the template.',
    parent: jobTemplates,
    response: LAUNCH_NEEDS,
  })
  @Get()
  needs(@Target() template: Row, @CurrentActor() actor: Actor): Promise<object> {
    return this.needsOf(template, actor);
  }

  @Idempotent()
  @Route({
    operationId: 'job_template_launch',
    summary:
      'Launch a job, or a workflow job of slices. `ignored_fields` lists sent fields without a prompt.',
    parent: jobTemplates,
    resource: jobs,
    response: json.anyOfSchemas(
      {
        allOf: [
          resourceRef(jobs),
          json.object({
            job: json.WIDE_INTEGER,
            ignored_fields: IGNORED,
          }),
        ],
      },
      {
        allOf: [
          { $ref: '#/components/schemas/WorkflowJob' },
          json.object({
            workflow_job: json.WIDE_INTEGER,
            ignored_fields: IGNORED,
          }),
        ],
      },
    ),
    needs: 'start',
    rules: JobLauncher,
    openParts,
    status: 201,
  })
  @Post()
  launch(
    @Target() template: Row,
    @Body() body: LaunchBody,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    return this.start(template, body, actor);
  }
}

@ApiTags('workflow_job_templates')
@Controller('api/v2/workflow_job_templates/:id/launch')
export class WorkflowLaunchController extends TemplateLaunches {
  constructor(resources: ResourceService, launcher: WorkflowJobLauncher) {
    super(resources, launcher);
  }

  @Route({
    link: 'launch',
    operationId: 'workflow_job_template_launch_needs',
    summary: 'Fields and prompts of a launch of the workflow.',
    parent: workflowJobTemplates,
    response: WORKFLOW_LAUNCH_NEEDS,
  })
  @Get()
  needs(@Target() template: Row, @CurrentActor() actor: Actor): Promise<object> {
    return this.needsOf(template, actor);
  }

  @Idempotent()
  @Route({
    operationId: 'workflow_job_template_launch',
    summary: 'Launch the workflow. `ignored_fields` lists sent fields without a prompt.',
    parent: workflowJobTemplates,
    resource: workflowJobs,
    adds: { workflow_job: json.WIDE_INTEGER, ignored_fields: IGNORED },
    needs: 'start',
    rules: WorkflowJobLauncher,
    openParts,
    body: WORKFLOW_BODY,
    status: 201,
  })
  @Post()
  launch(
    @Target() template: Row,
    @Body() body: LaunchBody,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    return this.start(template, body, actor);
  }
}
