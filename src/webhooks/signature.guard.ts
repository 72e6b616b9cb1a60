import {
  createParamDecorator,
  Injectable,
  SetMetadata,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import type { WebhookServiceName } from '../code-hosts/services.js';
import { Forbidden } from '../common/errors/errors.js';
import type { ApiRequest } from '../common/http/request.js';
import { receiverKind, type ReceiverType } from './receiver-kinds.js';
import { deliveryOf, SignatureVerifier } from './signature-verifier.service.js';

const SERVICE = 'controller:receives-from';
const TEMPLATE_TYPE = 'controller:receives-for';

/** Declares the service whose deliveries a route receives. */
export const ReceivesFrom = (service: WebhookServiceName): MethodDecorator =>
  SetMetadata(SERVICE, service);

/** Declares the type of template whose deliveries a controller receives. */
export const ReceivesFor = (type: ReceiverType): ClassDecorator => SetMetadata(TEMPLATE_TYPE, type);

/** Injects the verified `Delivery` of the request. */
export const VerifiedDelivery = createParamDecorator(
  (_data: undefined, context: ExecutionContext) =>
    deliveryOf(context.switchToHttp().getRequest<object>()),
);

/**
 * Admits only requests that are signed with the webhook key, and unsigned connection tests
 * (docs/contract/webhooks.md#order-of-a-delivery). `receiverGate` rejects unverified requests earlier.
 * The guard verifies only requests that bypassed `receiverGate`.
 */
@Injectable()
export class SignatureGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly verifier: SignatureVerifier,
  ) {}

  /** @throws Forbidden for an unverified request, and the errors of `SignatureVerifier.verify` */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const service = this.reflector.get<WebhookServiceName>(SERVICE, context.getHandler());
    const type = this.reflector.get<ReceiverType>(TEMPLATE_TYPE, context.getClass());
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    const route = { kind: receiverKind(type), service };
    const delivery = await this.verifier.verify(route, request.params.id, { request, response });
    if (!delivery) throw new Forbidden(undefined, 'delivery_rejected');
    return true;
  }
}
