import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { entryOf, itemAt } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import {
  anyOfSchemas,
  BOOLEAN,
  freeObject,
  INTEGER,
  list,
  object,
  STRING,
  WIDE_INTEGER,
} from '../common/fields/json-schema.js';
import { resourceRef } from '../common/resource/resource-schema.js';
import type { Actor } from '../common/access.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import {
  ALL_OPEN,
  NOTHING_OPEN,
  Route,
  type Caller,
  type OpenParts,
} from '../common/rest/route.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { jobTemplates } from '../job-templates/job-templates.resource.js';
import { ASK_SWITCHES } from '../prompts/launch-options.js';
import { launchForm, needsOf } from '../prompts/launch-form.js';
import { jobs } from '../runs/jobs.resource.js';
import { LaunchBody, promptsOfBody } from '../prompts/launch-body.js';
import { LaunchLoader } from './launch.loader.js';
import { describeLaunch } from './launch-needs.js';
import { launchedReply } from '../runs/launched-reply.js';
import { JobLauncher } from './job-launcher.service.js';

const IGNORED = freeObject('What was sent and the template does not ask for.');
const NAMES = list(STRING);
const LAUNCH_NEEDS = object({
  can_start_without_user_input: BOOLEAN,
  passwords_needed_to_start: NAMES,
  ...Object.fromEntries(Object.values(ASK_SWITCHES).map((name) => [name, BOOLEAN])),
  survey_enabled: BOOLEAN,
  variables_needed_to_start: NAMES,
  credential_needed_to_start: BOOLEAN,
  inventory_needed_to_start: BOOLEAN,
  job_template_data: object({ id: INTEGER, name: STRING, description: STRING }),
  defaults: freeObject("The template's own value of each launch field."),
});

/** Returns the fields of the launch form: the template's prompts. */
async function askedBy({ services, actor, parent }: Caller): Promise<OpenParts> {
  if (!parent) return NOTHING_OPEN;
  const { templates } = await services.find(LaunchLoader).load({ templates: [parent.id] }, actor);
  const template = templates.get(parent.id);
  if (!template) return NOTHING_OPEN;
  return { ...ALL_OPEN, fields: launchForm(needsOf(describeLaunch(template)), template.survey) };
}

/** Launches a job template (docs/contract/launching.md#launch). */
@ApiTags('job_templates')
@Controller('api/v2/job_templates/:id/launch')
export class LaunchController {
  constructor(
    private readonly resources: ResourceService,
    private readonly loader: LaunchLoader,
    private readonly launches: JobLauncher,
  ) {}

  @Route({
    kind: 'document',
    link: 'launch',
    access: 'authenticated',
    operationId: 'job_template_launch_needs',
    summary: 'What a launch of the template needs and asks for.',
    parent: jobTemplates,
    response: LAUNCH_NEEDS,
  })
  @Get()
  async needs(@Target() { id }: Row, @CurrentActor() actor: Actor): Promise<object> {
    const { templates } = await this.loader.load({ templates: [id] }, actor);
    return describeLaunch(entryOf(templates, id));
  }

  @Idempotent()
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'job_template_launch',
    summary:
      'Launch a job, or a workflow job of slices. Fields the template does not ask for are ignored and listed.',
    parent: jobTemplates,
    resource: jobs,
    response: anyOfSchemas(
      { allOf: [resourceRef(jobs), object({ job: WIDE_INTEGER, ignored_fields: IGNORED })] },
      {
        allOf: [
          { $ref: '#/components/schemas/WorkflowJob' },
          object({ workflow_job: WIDE_INTEGER, ignored_fields: IGNORED }),
        ],
      },
    ),
    needs: 'start',
    opens: askedBy,
    status: 201,
  })
  @Post()
  async launch(
    @Target() { id }: Row,
    @Body() body: LaunchBody,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    const launched = await this.launches.launch(
      [
        {
          templateId: id,
          launchType: 'manual',
          prompts: promptsOfBody(body),
          credentialPasswords: body.credential_passwords,
          createdBy: actor.id,
        },
      ],
      actor,
    );
    const run = itemAt(launched, 0);
    const shown = await launchedReply(this.resources, run, actor);
    return { ...shown, ignored_fields: run.ignored };
  }
}
