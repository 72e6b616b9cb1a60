import { Controller, Get, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency } from '../common/rest/idempotency.js';
import type { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { object } from '../common/fields/json-schema.js';
import { Route } from '../common/rest/route.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { workflowJobs } from '../workflows/workflow-jobs.resource.js';
import { WorkflowRelaunch } from '../launching/workflow-relaunch.service.js';
import { IGNORED_FIELDS } from './bulk-answers.js';
import { BulkRelaunch } from './bulk-relaunch.service.js';

workflowJobs.links.set('relaunch', 'relaunch');

/**
 * Launching a workflow job again: one of a template as it was, a bulk launch by its rules
 * (docs/contract/workflows.md#relaunching-workflow-jobs).
 */
@ApiTags('workflow_jobs')
@Controller('api/v2/workflow_jobs/:id/relaunch')
export class WorkflowRelaunchController {
  constructor(
    private readonly resources: ResourceService,
    private readonly bulk: BulkRelaunch,
    private readonly workflows: WorkflowRelaunch,
    private readonly idempotency: Idempotency,
  ) {}

  @Get()
  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'workflow_jobs_relaunch_needs',
    summary: 'What a relaunch of the workflow job needs.',
    response: object({}),
    parent: workflowJobs,
  })
  async needs(@Req() { params, actor }: ApiRequest): Promise<object> {
    await this.resources.load(workflowJobs, params.id, actor);
    return {};
  }

  @Post()
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'workflow_jobs_relaunch',
    summary: 'Launch the workflow job again.',
    parent: workflowJobs,
    resource: workflowJobs,
    adds: { ignored_fields: IGNORED_FIELDS },
    needs: 'start',
    body: [],
    status: 201,
  })
  async relaunch(@Req() request: ApiRequest): Promise<Reply> {
    const { params, actor } = request;
    const job = await this.resources.load(workflowJobs, params.id, actor, { action: 'start' });
    const relaunches = job.is_bulk_job === true ? this.bulk : this.workflows;
    return this.idempotency.once(request, () => relaunches.relaunch(job, actor));
  }
}
