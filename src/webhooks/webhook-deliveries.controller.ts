import { Post, Req } from '@nestjs/common';
import type { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { Route } from '../common/rest/route.js';
import { Machinery } from '../common/rest/machinery.js';
import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { RECEIVER_ANSWER, RECEIVER_IGNORED } from './receiver.controller.js';
import { RedeliveryService } from './redelivery.service.js';
import { webhookDeliveries } from './webhook-deliveries.resource.js';

@Resource(webhookDeliveries)
export class WebhookDeliveriesController extends ResourceController(webhookDeliveries, [
  'list',
  'retrieve',
]) {
  constructor(
    machinery: Machinery,
    private readonly redeliveries: RedeliveryService,
  ) {
    super(machinery);
  }

  @Route({
    kind: 'action',
    access: 'authenticated',
    operationId: 'webhook_deliveries_redeliver',
    summary: 'Send a delivery through its template again.',
    parent: webhookDeliveries,
    needs: 'redeliver',
    status: 202,
    response: RECEIVER_ANSWER,
    alternatives: RECEIVER_IGNORED,
  })
  @Post(':id/redeliver')
  redeliver(@Req() request: ApiRequest): Promise<Reply> {
    return this.redeliveries.redeliver(request, request.params.id);
  }
}
