import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import { INT4_MAX } from '../common/fields/text.js';
import { Forbidden } from '../common/errors/errors.js';
import type { ApiRequest } from '../common/http/request.js';
import { RateLimiter } from '../common/rate/rate-limiter.js';
import { Settings } from '../config/settings.js';
import { headerAliases } from '../code-hosts/headers.js';
import { ReceiverTemplates, type ReceiverTemplate } from './receiver-templates.js';
import { RejectionLog } from './rejection-log.js';
import type { WebhookServiceName } from '../code-hosts/services.js';
import { isVerified, type SignedRequest } from '../code-hosts/signature.js';

/** What the path of a receiver stands for. */
export interface ReceiverRoute {
  kind: ReceiverTemplate['kind'];
  service: WebhookServiceName;
}

/** A request whose sender has proved to know the template's webhook key. */
export interface VerifiedRequest extends ApiRequest {
  delivery: {
    template: ReceiverTemplate;
    service: WebhookServiceName;
    signed: SignedRequest;
  };
}

/**
 * Lets only those in who know the webhook key (docs/contract/webhooks.md#order-of-a-delivery).
 * Unknown template, other service, no service, wrong or missing signature: one answer, and one
 * amount of work before it.
 */
@Injectable()
export class SignatureGuard implements CanActivate {
  constructor(
    private readonly templates: ReceiverTemplates,
    private readonly rejections: RejectionLog,
    private readonly limiter: RateLimiter,
    private readonly settings: Settings,
  ) {}

  /** `receiverGate` has verified: what did not come through it was not, and is refused. */
  canActivate(context: ExecutionContext): boolean {
    const { delivery } = context.switchToHttp().getRequest<Partial<VerifiedRequest>>();
    if (!delivery) throw new Forbidden();
    return true;
  }

  /**
   * @param text of the template's id, as in the URL
   * @returns null unless the request is signed with the webhook key: an exception would cost as much
   *   as the check, and these come in floods
   * @throws TooManyRequests
   */
  async verify(
    { kind, service }: ReceiverRoute,
    text: string,
    { request, response }: { request: ApiRequest; response: Response },
  ): Promise<VerifiedRequest['delivery'] | null> {
    const id = idOf(text);
    await this.limit(kind.type, id, request.ip ?? '', response);
    const template = await this.templates.find(kind, id);
    const signed = signedRequest(request);
    const key = this.templates.keyOf(template, service);
    const aliases = headerAliases(this.settings.WEBHOOK_HEADER_ALIASES);
    const verified = isVerified(service, signed, key, aliases);
    if (!verified || !template || !hasKey(template, service)) {
      if (template) this.reject(template, service, request, signed);
      return null;
    }
    return { template, service, signed };
  }

  /** Counted for each address, so that nobody uses up what a template's service needs. */
  private limit(type: string, id: number, address: string, response: Response): Promise<void> {
    const subject = `${type}:${id}:${address}`;
    return this.limiter.take('receiver', subject, this.settings.RECEIVER_RATE, response);
  }

  private reject(
    template: ReceiverTemplate,
    service: WebhookServiceName,
    request: ApiRequest,
    signed: SignedRequest,
  ): void {
    this.rejections.count({
      templateId: template.id,
      service,
      verdict: 'rejected',
      reason: hasKey(template, service)
        ? 'The signature or token does not match the webhook key.'
        : 'The template does not receive webhooks of this service.',
      event: '',
      answer: 403,
      size: signed.rawBody.length,
      source: request.ip ?? '',
    });
  }
}

const hasKey = (template: ReceiverTemplate, service: string): boolean =>
  template.service === service && template.sealedKey !== '';

/** No template has the id 0: whatever is no id finds nothing, by the same way. */
const idOf = (text: string): number =>
  /^\d{1,10}$/.test(text) && Number(text) <= INT4_MAX ? Number(text) : 0;

function signedRequest({ headers, rawHeaders, body }: ApiRequest): SignedRequest {
  return { headers, rawHeaders, rawBody: Buffer.isBuffer(body) ? body : Buffer.alloc(0) };
}
