import { errorResponseOf } from '../common/rest/errors.filter.js';
import type { SecurityEvents } from '../common/rest/security-events.service.js';
import { Forbidden } from '../common/errors/errors.js';
import type { PlainHandler, PlainRequest } from '../common/http/request.js';
import { resource } from '../common/resource/define-resource.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { WEBHOOK_SERVICE_NAMES } from '../code-hosts/services.js';
import type { ReceiverRoute, SignatureVerifier } from './signature-verifier.service.js';

/**
 * The response is precomputed: passing an error through all later handlers would cost as much as
 * the signature check.
 */
const REFUSAL = errorResponseOf(new Forbidden());
/** Pattern of a receiver's path; case-insensitive, like the router. */
const RECEIVER = /^\/api\/v2\/([a-z_]+)\/([^/]+)\/([a-z_]+)\/?$/i;

/**
 * Returns a handler that checks the signature of a delivery first. Every client can send these
 * requests, so an unverified request must be cheap. Nothing is parsed before the check
 * (docs/contract/webhooks.md#order-of-a-delivery).
 */
export function receiverGate(verifier: SignatureVerifier, events: SecurityEvents): PlainHandler {
  return function receiverGate(request, response, next) {
    const found = request.method === 'POST' ? receiverOf(request) : null;
    if (!found) return next();
    verifier.verify(found.route, found.id, { request, response }).then((delivery) => {
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

/**
 * Returns the receiver by the path that the router uses, without a host or a fragment that the
 * request line can contain.
 */
function receiverOf(request: PlainRequest): Receiver | null {
  const [, path, id = '', service] = RECEIVER.exec(request.path) ?? [];
  const name = WEBHOOK_SERVICE_NAMES.find((known) => known === service?.toLowerCase());
  const kind = RECEIVER_KINDS.find(({ type }) => resource(type).path === path?.toLowerCase());
  return name && kind ? { route: { kind, service: name }, id } : null;
}
