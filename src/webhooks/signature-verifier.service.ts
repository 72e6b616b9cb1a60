import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { headerAliases } from '../code-hosts/headers.js';
import type { WebhookServiceName } from '../code-hosts/services.js';
import { isUnsignedEvent, isVerified, type SignedRequest } from '../code-hosts/signature.js';
import { COLUMN_TYPES, rangeOf } from '../common/fields/column-types.js';
import { rawBody, type BodyReader } from '../common/http/body.js';
import type { PlainRequest } from '../common/http/request.js';
import { UnauthenticatedBytes } from '../common/http/unauthenticated-bytes.service.js';
import { RateLimiter } from '../common/rate/rate-limiter.service.js';
import { Settings } from '../config/settings.js';
import { ReceiverTemplates, type ReceiverTemplate } from './receiver-templates.service.js';
import { RejectionLog, type UnverifiedRequest } from './rejection-log.service.js';

/** The receiver that a path names. */
export interface ReceiverRoute {
  kind: ReceiverTemplate['kind'];
  service: WebhookServiceName;
}

/** A verified request. An unsigned connection test counts as verified, too. */
export interface Delivery {
  /** Template; null for an unsigned connection test, which must not reveal if a template exists. */
  template: ReceiverTemplate | null;
  service: WebhookServiceName;
  signed: SignedRequest;
  /** IP address of the sender. */
  source: string;
}

const deliveries = new WeakMap<object, Delivery>();

/** Returns the verified delivery of a request; undefined if the request is not verified. */
export const deliveryOf = (request: object): Delivery | undefined => deliveries.get(request);

/**
 * Verifies that a sender knows the webhook key (docs/contract/webhooks.md#order-of-a-delivery). The
 * response and the amount of work are the same for an unknown template, another service, no
 * service, and a wrong or missing signature.
 */
@Injectable()
export class SignatureVerifier {
  private readonly readBytes: BodyReader;

  constructor(
    private readonly templates: ReceiverTemplates,
    private readonly rejections: RejectionLog,
    private readonly limiter: RateLimiter,
    private readonly settings: Settings,
    unauthenticatedBytes: UnauthenticatedBytes,
  ) {
    this.readBytes = rawBody(settings.WEBHOOK_BODY_LIMIT, unauthenticatedBytes);
  }

  /**
   * Reads the body of a request and checks its signature, once per request.
   *
   * @param templateId as in the URL, not validated
   * @returns null if the request is neither signed with the webhook key nor an unsigned connection test.
   *   Does not throw an exception for a rejected request, because an exception costs as much as the check
   * @throws PayloadTooLarge, TooManyRequests; BadRequest if the body is incomplete; Unavailable if too many
   *   bytes are being received
   */
  async verify(
    route: ReceiverRoute,
    templateId: string,
    { request, response }: { request: PlainRequest; response: Response },
  ): Promise<Delivery | null> {
    const id = templateIdIn(templateId);
    const verified = deliveries.get(request);
    if (verified && matchesRoute(verified, route, id)) return verified;
    if (!Buffer.isBuffer(request.body)) await this.readBytes(request, response);
    await this.limit(route.kind.type, id, request.ip ?? '', response);
    const delivery = await this.check(route, id, request);
    if (delivery) deliveries.set(request, delivery);
    return delivery;
  }

  private async check(
    { kind, service }: ReceiverRoute,
    id: number,
    request: PlainRequest,
  ): Promise<Delivery | null> {
    const template = await this.templates.find(kind, id);
    const signed = signedRequest(request);
    const key = this.templates.keyOf(template, service);
    const aliases = headerAliases(this.settings.WEBHOOK_HEADER_ALIASES);
    const verified = isVerified(service, signed, key ?? this.templates.decoyKey(), aliases);
    const source = request.ip ?? '';
    const receives = template !== null && hasKey(template, service);
    if (isUnsignedEvent(service, signed, aliases)) {
      if (receives) this.count({ template, service, signed, source }, UNSIGNED_TEST);
      return { template: null, service, signed, source };
    }
    if (verified && receives) return { template, service, signed, source };
    if (template) {
      const reason = key === null ? LOST_KEY : WRONG_SIGNATURE;
      this.count({ template, service, signed, source }, receives ? reason : WRONG_SERVICE);
    }
    return null;
  }

  /** Limits the rate per template and address, so that no sender uses up the limit of other senders. */
  private async limit(
    type: string,
    id: number,
    address: string,
    response: Response,
  ): Promise<void> {
    const subject = `${type}:${id}:${address}`;
    await this.limiter.take('receiver', subject, this.settings.RECEIVER_RATE, response);
  }

  private count(
    { template, service, signed, source }: Delivery & { template: ReceiverTemplate },
    outcome: Pick<UnverifiedRequest, 'verdict' | 'reason' | 'answer'>,
  ): void {
    const size = signed.rawBody.length;
    this.rejections.count({
      templateId: template.id,
      service,
      event: '',
      size,
      source,
      ...outcome,
    });
  }
}

const UNSIGNED_TEST = {
  verdict: 'ignored',
  reason: 'The event is a connection test, which is not signed.',
  answer: 200,
} as const;

const rejected = (reason: string) => ({ verdict: 'rejected', reason, answer: 403 }) as const;
const WRONG_SIGNATURE = rejected('The signature or token does not match the webhook key.');
const LOST_KEY = rejected(
  'The webhook key cannot be decrypted with the current keys. Create a new key.',
);
const WRONG_SERVICE = rejected('The template does not receive webhooks of this service.');

const matchesRoute = ({ template, service }: Delivery, route: ReceiverRoute, id: number): boolean =>
  service === route.service &&
  (template === null || (template.id === id && template.kind.type === route.kind.type));

const hasKey = (template: ReceiverTemplate, service: string): boolean =>
  template.service === service && template.sealedKey !== '';

/**
 * Returns the id of a template. Returns 0 for an invalid id: no template has the id 0, so the request
 * follows the same path as for an unknown template.
 */
const templateIdIn = (text: string): number =>
  /^\d{1,10}$/.test(text) && Number(text) <= rangeOf(COLUMN_TYPES.reference).max ? Number(text) : 0;

function signedRequest({ headers, rawHeaders, body }: PlainRequest): SignedRequest {
  return { headers, rawHeaders, rawBody: Buffer.isBuffer(body) ? body : Buffer.alloc(0) };
}
