import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { fieldsOf } from '../common/fields/field.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import type { Actor } from '../common/access.js';
import { CurrentActor, DRY_RUN_PARAMETER, DryRun } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { workflowJobs } from '../workflows/workflow-jobs.resource.js';
import { DETAIL, IGNORED_FIELDS, LAUNCH_DRY_RUN } from './bulk-responses.js';
import { BulkLaunchRequest } from './bulk-job.dto.js';
import { BulkLaunchService } from './bulk-launch.service.js';

/**
 * Launch of many jobs in one request (docs/contract/bulk.md). The route requires only an authenticated
 * caller, because the body names the templates. A missing permission to launch a template is reported with
 * the other validation errors (`BulkLaunchCheck.check`).
 */
@ApiTags('bulk')
@Controller('api/v2/bulk/job_launch')
export class BulkJobsController {
  constructor(private readonly bulkLaunch: BulkLaunchService) {}

  @Route({
    operationId: 'bulk_job_launch_help',
    summary: 'Describe the bulk launch.',
    response: DETAIL,
  })
  @Get()
  describeLaunch(): object {
    return {
      detail:
        'Specify a list of unified job templates to launch alongside their launchtime parameters',
    };
  }

  @Idempotent()
  @Route({
    operationId: 'bulk_job_launch',
    summary: 'Launch many jobs as one workflow job, all or none. `?dry_run=1` launches nothing.',
    resource: workflowJobs,
    adds: { ignored_fields: IGNORED_FIELDS },
    alternatives: LAUNCH_DRY_RUN,
    query: [DRY_RUN_PARAMETER],
    example: { name: 'Rollout', jobs: [{ unified_job_template: 1 }] },
    body: fieldsOf(BulkLaunchRequest),
    status: 201,
  })
  @Post()
  launch(
    @Body() body: Record<string, unknown>,
    @CurrentActor() actor: Actor,
    @DryRun() dryRun: boolean,
  ): Promise<object> {
    return this.bulkLaunch.launch(body, actor, dryRun);
  }
}
