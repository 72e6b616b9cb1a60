import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { rawBody } from '../common/http/body.js';
import { answerOf } from '../common/rest/errors.filter.js';
import { Forbidden } from '../common/errors/errors.js';
import { resource } from '../common/resource/registry.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { WEBHOOK_SERVICE_NAMES } from '../code-hosts/services.js';
import type { ReceiverRoute, SignatureGuard, VerifiedRequest } from './signature.guard.js';

/** Sent from here: the way of errors through all that follows costs as much as the whole check. */
const REFUSAL = answerOf(new Forbidden());
/** All that the router takes for the path of a receiver: it reads capitals and small letters alike. */
const RECEIVER = /^\/api\/v2\/([a-z_]+)\/([^/]+)\/([a-z_]+)\/?$/i;

/**
 * Reads the bytes of a delivery and has its signature checked before anything else is done for it:
 * anybody can send these requests, and what proves nothing must cost little. Nothing is
 * parsed before (docs/contract/webhooks.md#order-of-a-delivery).
 */
export function receiverGate(guard: SignatureGuard, limitBytes: number): RequestHandler {
  const read = rawBody(limitBytes);
  return (request, response, next) => {
    const found = request.method === 'POST' ? receiverOf(request) : null;
    if (!found) return next();
    read(request, response, (fault?: unknown) => {
      if (fault !== undefined) return next(fault);
      admit(guard, found, { request, response, next });
    });
  };
}

interface Receiver {
  route: ReceiverRoute;
  id: string;
}

/** By the path the router goes by, without the host and the fragment that a request may name too. */
function receiverOf(request: Request): Receiver | null {
  const [, path, id = '', service] = RECEIVER.exec(request.path) ?? [];
  const name = WEBHOOK_SERVICE_NAMES.find((known) => known === service?.toLowerCase());
  const kind = RECEIVER_KINDS.find(({ type }) => resource(type).path === path?.toLowerCase());
  return name && kind ? { route: { kind, service: name }, id } : null;
}

function admit(
  guard: SignatureGuard,
  { route, id }: Receiver,
  { request, response, next }: { request: Request; response: Response; next: NextFunction },
): void {
  const received = request as unknown as VerifiedRequest;
  guard.verify(route, id, { request: received, response }).then((delivery) => {
    if (!delivery) return void response.status(REFUSAL.status).json(REFUSAL.body);
    received.delivery = delivery;
    next();
  }, next);
}
