import { Get, Post, Req } from '@nestjs/common';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { BOOLEAN, object } from '../common/openapi/json-schema.js';
import { Route } from '../common/http/route.js';
import { Machinery } from '../common/resource/machinery.js';
import { ResourceController } from '../common/resource/resource.controller.js';
import { Resource } from '../common/resource/resource.decorator.js';
import { SubList } from '../common/resource/sublist.js';
import { children } from '../common/resource/sublist-kinds.js';
import { CancelService } from '../jobs/cancel.service.js';
import { projectUpdates } from './project-updates.resource.js';

projectUpdates.links.set('cancel', 'cancel');

@Resource(projectUpdates)
@SubList('notifications', children('notifications', { readOnly: true }))
export class ProjectUpdatesController extends ResourceController(projectUpdates, [
  'list',
  'retrieve',
  'destroy',
]) {
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
    operationId: 'project_updates_can_cancel',
    summary: 'Whether the project update can be canceled.',
    parent: projectUpdates,
    response: object({ can_cancel: BOOLEAN }),
  })
  canCancel(@Req() { params, actor }: ApiRequest): Promise<object> {
    return this.cancels.canCancel(projectUpdates, params.id, actor);
  }

  @Post(':id/cancel')
  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'project_updates_cancel',
    summary: 'Cancel the project update.',
    parent: projectUpdates,
    needs: 'cancel',
    status: 202,
  })
  cancel(@Req() { params, actor }: ApiRequest): Promise<Reply> {
    return this.cancels.cancel(projectUpdates, params.id, actor);
  }
}
