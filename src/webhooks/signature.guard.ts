import {
  createParamDecorator,
  Injectable,
  SetMetadata,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { Forbidden } from '../common/errors/errors.js';
import type { ApiRequest } from '../common/http/request.js';
import { deliveryOf, SignatureVerifier, type ReceiverRoute } from './signature-verifier.service.js';

const RECEIVES = 'controller:receives';

/** Declares the receiver of a route. */
export const Receives = (route: ReceiverRoute): MethodDecorator => SetMetadata(RECEIVES, route);

/** Injects the `Delivery` that the guard verified. */
export const VerifiedDelivery = createParamDecorator(
  (_data: undefined, context: ExecutionContext) =>
    deliveryOf(context.switchToHttp().getRequest<object>()),
);

/**
 * Admits only senders that know the webhook key (docs/contract/webhooks.md#order-of-a-delivery).
 * `receiverGate` refuses unverified requests earlier; the guard does not verify those again, and
 * verifies requests that bypassed `receiverGate`.
 */
@Injectable()
export class SignatureGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly verifier: SignatureVerifier,
  ) {}

  /** @throws Forbidden, PayloadTooLarge, TooManyRequests */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = this.reflector.get<ReceiverRoute | undefined>(RECEIVES, context.getHandler());
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    const delivery =
      route && (await this.verifier.verify(route, request.params.id, { request, response }));
    if (!delivery) throw new Forbidden(undefined, 'delivery_rejected');
    return true;
  }
}
