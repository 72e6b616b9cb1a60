import { Get, Post, Req } from '@nestjs/common';
import { activityOf } from '../activity/sublists.js';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { BOOLEAN, object } from '../common/openapi/json-schema.js';
import { Route } from '../common/http/route.js';
import { Machinery } from '../common/resource/machinery.js';
import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { SubList } from '../common/resource/sublist.js';
import { children, related } from '../common/resource/sublist-kinds.js';
import { labelsOf } from '../labels/sublists.js';
import { sql } from '../database/sql.js';
import { CancelService } from './cancel.service.js';
import { jobs } from './jobs.resource.js';

jobs.links.set('cancel', 'cancel');

@Resource(jobs)
@SubList(
  'job_host_summaries',
  children('job_host_summaries', { readOnly: true, options: () => ({ visible: sql`TRUE` }) }),
)
@SubList('credentials', related('credentials'))
@SubList('labels', labelsOf())
@SubList('notifications', children('notifications', { readOnly: true }))
@SubList('activity_stream', activityOf())
export class JobsController extends ResourceController(jobs, ['list', 'retrieve', 'destroy']) {
  constructor(
    machinery: Machinery,
    private readonly cancels: CancelService,
  ) {
    super(machinery);
  }

  @Get(':id/cancel')
  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'jobs_can_cancel',
    summary: 'Whether the job can be canceled.',
    parent: jobs,
    response: object({ can_cancel: BOOLEAN }),
  })
  canCancel(@Req() { params, actor }: ApiRequest): Promise<object> {
    return this.cancels.canCancel(jobs, params.id, actor);
  }

  @Post(':id/cancel')
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'jobs_cancel',
    summary: 'Cancel the job: at once when it has not started, else as soon as it can be ended.',
    parent: jobs,
    needs: 'cancel',
    status: 202,
  })
  cancel(@Req() { params, actor }: ApiRequest): Promise<Reply> {
    return this.cancels.cancel(jobs, params.id, actor);
  }
}
