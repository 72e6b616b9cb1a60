import { Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import type { RowOf } from '../common/resource/define-resource.js';
import * as json from '../common/fields/json-schema.js';
import type { Actor } from '../common/access.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import type { WorkflowJob } from '../workflows/workflow-job.entity.js';
import { workflowJobs } from '../workflows/workflow-jobs.resource.js';
import { WorkflowRelaunch } from '../launching/workflow-relaunch.service.js';
import { IGNORED_FIELDS } from './bulk-responses.js';
import { BulkRelaunch } from './bulk-relaunch.service.js';

/**
 * Relaunches workflow jobs: from the template or, for bulk jobs, with the rules of a bulk launch
 * (docs/contract/workflows.md#relaunching-workflow-jobs).
 */
@ApiTags('workflow_jobs')
@Controller('api/v2/workflow_jobs/:id/relaunch')
export class WorkflowRelaunchController {
  constructor(
    private readonly bulk: BulkRelaunch,
    private readonly workflows: WorkflowRelaunch,
  ) {}

  @Route({
    link: 'relaunch',
    operationId: 'workflow_jobs_relaunch_needs',
    summary: 'Fields that a relaunch of the workflow job accepts.',
    response: json.object({}),
    parent: workflowJobs,
  })
  @Get()
  relaunchFields(): object {
    return {};
  }

  @Idempotent()
  @Route({
    operationId: 'workflow_jobs_relaunch',
    summary: 'Relaunch the workflow job.',
    parent: workflowJobs,
    resource: workflowJobs,
    adds: { ignored_fields: IGNORED_FIELDS },
    needs: 'start',
    body: [],
    status: 201,
  })
  @Post()
  relaunch(@Target() job: RowOf<WorkflowJob>, @CurrentActor() actor: Actor): Promise<object> {
    const service = job.is_bulk_job ? this.bulk : this.workflows;
    return service.relaunch(job, actor);
  }
}
