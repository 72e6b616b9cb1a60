import { answerOf } from '../common/rest/errors.filter.js';
import type { SecurityEvents } from '../common/rest/security-events.service.js';
import { Forbidden } from '../common/errors/errors.js';
import type { PlainHandler, PlainRequest } from '../common/http/request.js';
import { resource } from '../common/resource/registry.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { WEBHOOK_SERVICE_NAMES } from '../code-hosts/services.js';
import type { ReceiverRoute, SignatureVerifier } from './signature-verifier.service.js';

/** Sent from here: the way of errors through all that follows costs as much as the whole check. */
const REFUSAL = answerOf(new Forbidden());
/** All that the router takes for the path of a receiver: it reads capitals and small letters alike. */
const RECEIVER = /^\/api\/v2\/([a-z_]+)\/([^/]+)\/([a-z_]+)\/?$/i;

/**
 * Has the signature of a delivery checked before anything else is done for it: anybody can send
 * these requests, and what proves nothing must cost little. Nothing is parsed before
 * (docs/contract/webhooks.md#order-of-a-delivery).
 */
export function receiverGate(verifier: SignatureVerifier, events: SecurityEvents): PlainHandler {
  return function receiverGate(request, response, next) {
    const found = request.method === 'POST' ? receiverOf(request) : null;
    if (!found) return next();
    verifier.verify(found.route, found.id, { request: request, response }).then((delivery) => {
      if (delivery) return next();
      events.record('delivery_rejected', request);
      response.status(REFUSAL.status).json(REFUSAL.body);
    }, next);
  };
}

interface Receiver {
  route: ReceiverRoute;
  id: string;
}

/** By the path the router goes by, without the host and the fragment that a request may name too. */
function receiverOf(request: PlainRequest): Receiver | null {
  const [, path, id = '', service] = RECEIVER.exec(request.path) ?? [];
  const name = WEBHOOK_SERVICE_NAMES.find((known) => known === service?.toLowerCase());
  const kind = RECEIVER_KINDS.find(({ type }) => resource(type).path === path?.toLowerCase());
  return name && kind ? { route: { kind, service: name }, id } : null;
}
