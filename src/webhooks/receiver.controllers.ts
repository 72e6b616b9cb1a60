import { applyDecorators, Controller, Post, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { webhookService, type WebhookServiceName } from '../code-hosts/services.js';
import type { Reply } from '../common/http/reply.js';
import { resource } from '../common/resource/define-resource.js';
import { declareInheritedRoutes, Route } from '../common/rest/route.js';
import { RECEIVER_RESPONSE, RECEIVER_IGNORED } from './receiver-responses.js';
import type { ReceiverType } from './receiver-kinds.js';
import { ReceiverService } from './receiver.service.js';
import { ReceivesFor, ReceivesFrom, SignatureGuard, VerifiedDelivery } from './signature.guard.js';
import type { Delivery } from './signature-verifier.service.js';

/** Declares a route that receives deliveries of one service. */
const DeliveryRoute = (service: WebhookServiceName): MethodDecorator =>
  applyDecorators(
    ReceivesFrom(service),
    Route(({ path }) => ({
      access: 'signature',
      operationId: `${path}_${service}_receive`,
      summary: `Receive an event of ${webhookService(service).label}, signed with the webhook key.`,
      status: 202,
      response: RECEIVER_RESPONSE,
      alternatives: RECEIVER_IGNORED,
    })),
  );

/** Mounts the receivers of one type of template at the URL of its objects. */
const ReceiverOf = (type: ReceiverType): ClassDecorator =>
  applyDecorators(
    (controller: { prototype: object }) => declareInheritedRoutes(controller, resource(type)),
    ReceivesFor(type),
    Controller(`api/v2/${resource(type).path}`),
    ApiTags('webhooks'),
  );

/** The receivers of a template, one for each service. */
@Controller()
@UseGuards(SignatureGuard)
abstract class WebhookReceiver {
  constructor(private readonly receiver: ReceiverService) {}

  @DeliveryRoute('service_a')
  @Post(':id/service_a')
  receiveA(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }

  @DeliveryRoute('service_b')
  @Post(':id/service_b')
  receiveB(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }

  @DeliveryRoute('service_c_dc')
  @Post(':id/service_c_dc')
  receiveC(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }
}

@ReceiverOf('job_template')
export class JobTemplateReceiverController extends WebhookReceiver {}

@ReceiverOf('workflow_job_template')
export class WorkflowJobTemplateReceiverController extends WebhookReceiver {}

@ReceiverOf('project')
export class ProjectReceiverController extends WebhookReceiver {}
