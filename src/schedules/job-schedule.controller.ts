import { Controller, Get, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route } from '../common/rest/route.js';
import { BOOLEAN, freeObject, object } from '../common/fields/json-schema.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { jobs } from '../runs/jobs.resource.js';
import { JobSchedules } from './job-schedules.service.js';
import { schedules } from './schedules.resource.js';

jobs.links.set('create_schedule', 'create_schedule');

/** Launching a job's template again at set times, with the prompts the job had. */
@ApiTags('jobs')
@Controller('api/v2/jobs/:id/create_schedule')
export class JobScheduleController {
  constructor(
    private readonly resources: ResourceService,
    private readonly service: JobSchedules,
  ) {}

  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'jobs_schedule_prompts',
    summary: 'Whether a schedule can be made of the job, and the prompts it would have.',
    parent: jobs,
    response: object({
      can_schedule: BOOLEAN,
      prompts: freeObject('What the launch of the job set, objects by id and name.'),
    }),
  })
  @Get()
  async about(@Req() { params, actor }: ApiRequest): Promise<object> {
    return this.service.describe(await this.resources.load(jobs, params.id, actor), actor);
  }

  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'jobs_create_schedule',
    summary: 'Make a schedule, still disabled, that launches as the job was launched.',
    parent: jobs,
    resource: schedules,
    needs: 'start',
    status: 201,
  })
  @Post()
  async create(@Req() { params, actor }: ApiRequest): Promise<Reply> {
    const job = await this.resources.load(jobs, params.id, actor, { action: 'start' });
    const row = await this.service.create(job, actor);
    return Reply.created(await this.resources.show(schedules, row, actor));
  }
}
