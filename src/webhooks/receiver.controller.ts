import { Controller, RequestMethod, UseGuards, type Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { AlternativeAnswer } from '../common/rest/route.js';
import { object, STRING, WIDE_INTEGER } from '../common/fields/json-schema.js';
import { addRoute } from '../common/rest/add-route.js';
import { resource } from '../common/resource/registry.js';
import type { ReceiverTemplate } from './receiver-templates.service.js';
import { ReceiverService } from './receiver.service.js';
import {
  WEBHOOK_SERVICE_NAMES,
  webhookService,
  type WebhookServiceName,
} from '../code-hosts/services.js';
import type { Delivery } from './signature-verifier.service.js';
import { Receives, SignatureGuard, VerifiedDelivery } from './signature.guard.js';

/** `POST /api/v2/<templates>/<id>/<service>/` for every service. */
export function receiverController(kind: ReceiverTemplate['kind']): Type {
  class ReceiverController {
    constructor(readonly service: ReceiverService) {}
  }
  Reflect.defineMetadata('design:paramtypes', [ReceiverService], ReceiverController);
  Object.defineProperty(ReceiverController, 'name', { value: `${kind.type}_receivers` });
  for (const service of WEBHOOK_SERVICE_NAMES) declareReceiver(ReceiverController, kind, service);
  Controller(`api/v2/${resource(kind.type).path}`)(ReceiverController);
  ApiTags('webhooks')(ReceiverController);
  UseGuards(SignatureGuard)(ReceiverController);
  return ReceiverController;
}

function declareReceiver(
  target: Type,
  kind: ReceiverTemplate['kind'],
  service: WebhookServiceName,
): void {
  addRoute(target, service, {
    method: RequestMethod.POST,
    path: `:id/${service}`,
    info: {
      kind: 'action',
      access: 'signature',
      operationId: `${resource(kind.type).path}_${service}_receive`,
      summary: `Receive an event of ${webhookService(service).label}, signed with the webhook key.`,
      status: 202,
      response: RECEIVER_ANSWER,
      alternatives: RECEIVER_IGNORED,
    },
    parameters: [VerifiedDelivery()],
    decorators: [Receives({ kind, service })],
    handler(this: { service: ReceiverService }, delivery: Delivery) {
      return this.service.receive(delivery);
    },
  });
}

/** JSON schema of the answers (docs/contract/webhooks.md#answers). */
export const RECEIVER_ANSWER = object(
  {
    message: STRING,
    delivery: { ...WIDE_INTEGER, description: 'Record of this delivery.' },
    job: { ...WIDE_INTEGER, description: 'The run that it launched.' },
    url: { ...STRING, description: 'Path of that run.' },
  },
  ['delivery', 'job', 'url'],
);

/** What is recorded and launches nothing. */
export const RECEIVER_IGNORED: readonly AlternativeAnswer[] = [
  { status: 200, description: 'Recorded and ignored.', response: RECEIVER_ANSWER },
];
