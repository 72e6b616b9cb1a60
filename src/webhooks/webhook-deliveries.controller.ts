import { Ip, Post } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import type { BadRequest } from '../common/errors/errors.js';
import type { Reply } from '../common/http/reply.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { Target } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { RECEIVER_RESPONSE, RECEIVER_IGNORED } from './receiver-responses.js';
import { RedeliveryService } from './redelivery.service.js';
import type { WebhookDelivery } from './webhook-delivery.entity.js';
import { webhookDeliveries } from './webhook-deliveries.resource.js';

@Resource(webhookDeliveries)
export class WebhookDeliveriesController extends ResourceController(webhookDeliveries) {
  constructor(private readonly redeliveries: RedeliveryService) {
    super();
  }

  @Route({
    operationId: 'webhook_deliveries_redeliver',
    summary: 'Redeliver a webhook delivery.',
    parent: webhookDeliveries,
    needs: 'redeliver',
    status: 202,
    response: RECEIVER_RESPONSE,
    alternatives: RECEIVER_IGNORED,
  })
  @Post(':id/redeliver')
  @Idempotent()
  redeliver(
    @Target() delivery: RowOf<WebhookDelivery>,
    @Ip() address?: string,
  ): Promise<Reply | BadRequest> {
    return this.redeliveries.redeliver(delivery, address);
  }
}
