import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { Reply } from '../common/http/reply.js';
import { entryOf, itemAt } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import {
  BOOLEAN,
  freeObject,
  INTEGER,
  list,
  object,
  STRING,
} from '../common/fields/json-schema.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { resource } from '../common/resource/registry.js';
import { summariesOf } from '../common/resource/represent.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { readLaunchBody } from '../prompts/launch-body.js';
import { ASK_SWITCHES } from '../prompts/launch-config.js';
import { LAUNCH_FIELDS } from '../prompts/launch.schema.js';
import { workflowJobs } from '../workflows/workflow-jobs.resource.js';
import { LaunchTargets } from './launch-targets.js';
import { WORKFLOW_PROMPTS } from './workflow-launch-check.js';
import { WorkflowLaunchLoader } from './workflow-launch-loader.js';
import { describeWorkflowLaunch, type LaunchSubject } from './workflow-launch-needs.js';
import { WorkflowLaunchService } from './workflow-launch.service.js';
import { workflowTemplates } from '../workflow-templates/workflow-templates.resource.js';

workflowTemplates.links.set('launch', 'launch');

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
const BODY = LAUNCH_FIELDS.filter(({ name }) => asked.includes(name));

/** Launching a workflow job template (docs/contract/launching.md#launch). */
@ApiTags('workflow_job_templates')
@Controller('api/v2/workflow_job_templates/:id/launch')
export class WorkflowLaunchController {
  constructor(
    private readonly resources: ResourceService,
    private readonly loader: WorkflowLaunchLoader,
    private readonly targets: LaunchTargets,
    private readonly launches: WorkflowLaunchService,
  ) {}

  @Get()
  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'workflow_job_template_launch_needs',
    summary: 'What a launch of the workflow needs and asks for.',
    parent: workflowTemplates,
    response: WORKFLOW_LAUNCH_NEEDS,
  })
  async needs(@Target() { id }: Row, @CurrentActor() actor: Actor): Promise<object> {
    return describeWorkflowLaunch(await this.subject(id, actor));
  }

  @Post()
  @Idempotent()
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'workflow_job_template_launch',
    summary: 'Launch the workflow. Fields the template does not ask for are ignored and listed.',
    parent: workflowTemplates,
    resource: workflowJobs,
    adds: {
      workflow_job: INTEGER,
      ignored_fields: freeObject('What was sent and the template does not ask for.'),
    },
    needs: 'start',
    body: BODY,
    status: 201,
  })
  async launch(
    @Target() { id }: Row,
    @Body() body: Record<string, unknown>,
    @CurrentActor() actor: Actor,
  ): Promise<Reply> {
    const { prompts } = readLaunchBody(body);
    const { jobIds, ignored } = await this.launches.launch(
      [{ templateId: id, launchType: 'manual', prompts, createdBy: actor.id }],
      actor,
    );
    const job = await this.resources.load(workflowJobs, itemAt(jobIds, 0), actor);
    const shown = await this.resources.show(workflowJobs, job, actor);
    return Reply.created({ workflow_job: job.id, ignored_fields: ignored[0], ...shown });
  }

  private async subject(id: number, actor: Actor): Promise<LaunchSubject> {
    const templates = await this.loader.templates([id], actor);
    const template = entryOf(templates, id);
    const nodes = await this.loader.nodes([id]);
    const ids = nodes.flatMap(({ templateId }) => templateId ?? []);
    const inventoryId = template.row.inventory_id as number | null;
    const { database } = this.resources;
    const named = await summariesOf(
      resource('inventory'),
      inventoryId === null ? [] : [inventoryId],
      { database, actor },
    );
    const [inventory] = named;
    return {
      template,
      nodes,
      nodeTemplates: await this.targets.templates([...new Set(ids)]),
      inventory: inventory ? { id: inventory[0], name: String(inventory[1].name) } : null,
    };
  }
}
