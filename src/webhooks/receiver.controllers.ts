import { applyDecorators, Controller, Post, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { webhookService, type WebhookServiceName } from '../code-hosts/services.js';
import type { Reply } from '../common/http/reply.js';
import { resource } from '../common/resource/registry.js';
import { Route } from '../common/rest/route.js';
import { RECEIVER_ANSWER, RECEIVER_IGNORED } from './receiver-answers.js';
import { receiverKind, type ReceiverType } from './receiver-kinds.js';
import { ReceiverService } from './receiver.service.js';
import { Receives, SignatureGuard, VerifiedDelivery } from './signature.guard.js';
import type { Delivery } from './signature-verifier.service.js';

/** Declares a route that takes deliveries of one service for one kind of template. */
const ReceivesFrom = (service: WebhookServiceName, type: ReceiverType): MethodDecorator =>
  applyDecorators(
    Receives({ kind: receiverKind(type), service }),
    Route({
      kind: 'action',
      access: 'signature',
      operationId: `${resource(type).path}_${service}_receive`,
      summary: `Receive an event of ${webhookService(service).label}, signed with the webhook key.`,
      status: 202,
      response: RECEIVER_ANSWER,
      alternatives: RECEIVER_IGNORED,
    }),
  );

@ApiTags('webhooks')
@Controller('api/v2/job_templates')
@UseGuards(SignatureGuard)
export class JobTemplateReceiverController {
  constructor(private readonly receiver: ReceiverService) {}

  @ReceivesFrom('service_a', 'job_template')
  @Post(':id/service_a')
  receiveA(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }

  @ReceivesFrom('service_b', 'job_template')
  @Post(':id/service_b')
  receiveB(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }

  @ReceivesFrom('service_c_dc', 'job_template')
  @Post(':id/service_c_dc')
  receiveC(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }
}

@ApiTags('webhooks')
@Controller('api/v2/workflow_job_templates')
@UseGuards(SignatureGuard)
export class WorkflowJobTemplateReceiverController {
  constructor(private readonly receiver: ReceiverService) {}

  @ReceivesFrom('service_a', 'workflow_job_template')
  @Post(':id/service_a')
  receiveA(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }

  @ReceivesFrom('service_b', 'workflow_job_template')
  @Post(':id/service_b')
  receiveB(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }

  @ReceivesFrom('service_c_dc', 'workflow_job_template')
  @Post(':id/service_c_dc')
  receiveC(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }
}

@ApiTags('webhooks')
@Controller('api/v2/projects')
@UseGuards(SignatureGuard)
export class ProjectReceiverController {
  constructor(private readonly receiver: ReceiverService) {}

  @ReceivesFrom('service_a', 'project')
  @Post(':id/service_a')
  receiveA(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }

  @ReceivesFrom('service_b', 'project')
  @Post(':id/service_b')
  receiveB(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }

  @ReceivesFrom('service_c_dc', 'project')
  @Post(':id/service_c_dc')
  receiveC(@VerifiedDelivery() delivery: Delivery): Promise<Reply> {
    return this.receiver.receive(delivery);
  }
}
