import { Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import * as json from '../common/fields/json-schema.js';
import { ResourceService } from '../common/rest/resource.service.js';
import type { Job } from '../runs/job.entity.js';
import { jobs } from '../runs/jobs.resource.js';
import { JobSchedules } from './job-schedules.service.js';
import { schedules } from './schedules.resource.js';

/** Creates schedules of a job's template with the prompts of the job. */
@ApiTags('jobs')
@Controller('api/v2/jobs/:id/create_schedule')
export class JobScheduleController {
  constructor(
    private readonly resources: ResourceService,
    private readonly service: JobSchedules,
  ) {}

  @Route({
    link: 'create_schedule',
    operationId: 'jobs_schedule_prompts',
    summary: 'Return whether a schedule can be created from the job, and the prompts of the job.',
    parent: jobs,
    response: json.object({
      can_schedule: json.described(json.BOOLEAN, 'True if a schedule can be created from the job.'),
      prompts: json.freeObject('Values that the launch of the job set; objects by id and name.'),
    }),
  })
  @Get()
  about(@Target() job: RowOf<Job>, @CurrentActor() actor: Actor): Promise<object> {
    return this.service.describe(job, actor);
  }

  @Route({
    operationId: 'jobs_create_schedule',
    summary: 'Create a disabled schedule with the template and the prompts of the job.',
    parent: jobs,
    resource: schedules,
    needs: 'start',
    status: 201,
  })
  @Post()
  async create(@Target() job: RowOf<Job>, @CurrentActor() actor: Actor): Promise<object> {
    const row = await this.service.create(job, actor);
    return this.resources.show(schedules, row, actor);
  }
}
