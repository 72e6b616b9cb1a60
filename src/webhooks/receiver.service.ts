import { Injectable } from '@nestjs/common';
import { BadRequest } from '../common/errors/errors.js';
import { Reply } from '../common/http/reply.js';
import { resource } from '../common/resource/define-resource.js';
import { Settings } from '../config/settings.js';
import { DeliveryIntake, type DeliveryResult } from './delivery-intake.service.js';
import { responseMessage, IGNORED } from './receiver-responses.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { parseEvent, type WebhookEvent } from '../code-hosts/event.js';
import { headerAliases } from '../code-hosts/headers.js';
import { InvalidPayload } from '../code-hosts/payload.js';
import type { ReceiverKind } from './receiver-kinds.js';
import type { Delivery } from './signature-verifier.service.js';

/** Status codes by verdict. */
const STATUSES = { accepted: 202, duplicate: 202, ignored: 200 } as const;

/**
 * Returns the response to a delivery.
 *
 * @throws BadRequest for a rejected delivery. No run was queued, and the code host shows a failed delivery to
 *   the owner of the webhook
 */
export function responseTo(
  { verdict, reason, delivery, run }: DeliveryResult,
  kind: ReceiverKind,
): Reply<number> {
  if (verdict === 'rejected') throw new BadRequest(reason, 'delivery_rejected');
  const message = responseMessage(verdict, kind);
  const launched = run === null ? {} : { job: run.id, url: resource(run.type).url(run.id) };
  return new Reply(STATUSES[verdict], { message, delivery, ...launched });
}

/** Processes verified requests. */
@Injectable()
export class ReceiverService {
  constructor(
    private readonly intake: DeliveryIntake,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly settings: Settings,
  ) {}

  async receive(delivery: Delivery): Promise<Reply> {
    const { template, signed, source } = delivery;
    if (template === null) return new Reply(STATUSES.ignored, { message: IGNORED });
    const event = await this.read(delivery, template.id);
    const size = signed.rawBody.length;
    const result = await this.intake.process({ template, event, size, source, redeliveryOf: null });
    return responseTo(result, template.kind);
  }

  private async read(
    { service, signed, source }: Delivery,
    templateId: number,
  ): Promise<WebhookEvent> {
    try {
      return parseEvent(service, signed, headerAliases(this.settings.WEBHOOK_HEADER_ALIASES));
    } catch (error) {
      if (!(error instanceof InvalidPayload)) throw error;
      const size = signed.rawBody.length;
      const delivery = { templateId, service, size, source, event: null, redeliveryOf: null };
      const outcome = { verdict: 'rejected', reason: error.message, answer: 400 } as const;
      await this.deliveries.record([{ delivery, outcome, job: null }]);
      throw new BadRequest(error.message, 'delivery_rejected');
    }
  }
}
