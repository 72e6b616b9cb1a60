import { Get, Post, Req } from '@nestjs/common';
import { activityOf } from '../activity/sublists.js';
import type { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { BOOLEAN, object } from '../common/openapi/json-schema.js';
import { Route } from '../common/http/route.js';
import { QueuePort } from '../common/queue/queue.port.js';
import { Machinery } from '../common/resource/machinery.js';
import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { SubList } from '../common/resource/sublist.js';
import { children } from '../common/resource/sublist-kinds.js';
import { sql } from '../database/sql.js';
import { CancelService } from '../jobs/cancel.service.js';
import { workflowJobs } from './workflow-jobs.resource.js';

workflowJobs.links.set('cancel', 'cancel');

@Resource(workflowJobs)
@SubList(
  'workflow_nodes',
  // Who may open the workflow job sees what it consists of.
  children('workflow_nodes', { readOnly: true, options: () => ({ visible: sql`TRUE` }) }),
)
@SubList('notifications', children('notifications', { readOnly: true }))
@SubList('activity_stream', activityOf())
export class WorkflowJobsController extends ResourceController(workflowJobs, [
  'list',
  'retrieve',
  'destroy',
]) {
  constructor(
    machinery: Machinery,
    private readonly cancels: CancelService,
    private readonly queue: QueuePort,
  ) {
    super(machinery);
  }

  @Get(':id/cancel')
  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'workflow_jobs_can_cancel',
    summary: 'Whether the workflow job can be canceled.',
    response: object({ can_cancel: BOOLEAN }),
    parent: workflowJobs,
  })
  canCancel(@Req() { params, actor }: ApiRequest): Promise<object> {
    return this.cancels.canCancel(workflowJobs, params.id, actor);
  }

  @Post(':id/cancel')
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'workflow_jobs_cancel',
    summary: 'Cancel the workflow job and all its runs.',
    parent: workflowJobs,
    needs: 'cancel',
    status: 202,
  })
  async cancel(@Req() { params, actor }: ApiRequest): Promise<Reply> {
    const reply = await this.cancels.cancel(workflowJobs, params.id, actor);
    // Its runs are canceled by the scheduler.
    this.queue.wakeScheduler();
    return reply;
  }
}
