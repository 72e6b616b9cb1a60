import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import type { WebhookServiceName } from '../code-hosts/services.js';
import { Forbidden } from '../common/errors/errors.js';
import type { ApiRequest } from '../common/http/request.js';
import { partOfRequest } from '../common/rest/parameters.js';
import { receiverKind, type ReceiverType } from './receiver-kinds.js';
import { deliveryOf, SignatureVerifier } from './signature-verifier.service.js';

/** Declares the service whose deliveries a route receives. */
export const ReceivesFrom = Reflector.createDecorator<WebhookServiceName>();

/** Declares the type of template whose deliveries a controller receives. */
export const ReceivesFor = Reflector.createDecorator<ReceiverType>();

/** Injects the verified `Delivery` of the request. */
export const VerifiedDelivery = partOfRequest(deliveryOf);

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
    const service = this.reflector.get(ReceivesFrom, context.getHandler());
    const type = this.reflector.get(ReceivesFor, context.getClass());
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    const route = { kind: receiverKind(type), service };
    const delivery = await this.verifier.verify(route, request.params.id, { request, response });
    if (!delivery) throw new Forbidden(undefined, 'delivery_rejected');
    return true;
  }
}
