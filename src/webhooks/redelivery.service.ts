import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { parseRecord } from '../common/records.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { BadRequest } from '../common/errors/errors.js';
import { Reply } from '../common/http/reply.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import { DeliveryIntake } from './delivery-intake.service.js';
import type { WebhookEvent } from '../code-hosts/event.js';
import { RECEIVER_KINDS } from './receiver-kinds.js';
import { responseTo } from './receiver.service.js';
import type { ReceiverTemplate } from './receiver-templates.service.js';
import type { WebhookServiceName } from '../code-hosts/services.js';
import { webhookDeliveries } from './webhook-deliveries.resource.js';
import type { WebhookDelivery } from './webhook-delivery.entity.js';

/**
 * Redelivers a recorded delivery to its template, by the current rules. The new delivery has a
 * new GUID, so it is not a duplicate.
 */
@Injectable()
export class RedeliveryService {
  constructor(
    private readonly templates: TemplatesRepository,
    private readonly intake: DeliveryIntake,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * @param source address of the caller
   * @returns the response, or the refusal, which is already in the delivery log and therefore must
   *   not be rolled back
   * @throws BadRequest if there is no payload, or no template that still receives the delivery
   */
  async redeliver(row: RowOf<WebhookDelivery>, source = ''): Promise<Reply | BadRequest> {
    const event = eventOf(row);
    const template = await this.templateOf(row, event.service);
    const audit = (id: number): void => this.audit(template, row, id);
    const result = await this.intake.process({
      template,
      event,
      size: row.size,
      source,
      redeliveryOf: row.id,
      audit,
    });
    if (result.verdict === 'rejected') return new BadRequest(result.reason);
    const { status, body } = responseTo(result, template.kind);
    return new Reply(status, body, { Location: webhookDeliveries.url(result.delivery) });
  }

  private async templateOf(
    row: RowOf<WebhookDelivery>,
    service: WebhookServiceName,
  ): Promise<ReceiverTemplate> {
    const id = row.template_id;
    const [found] = id === null ? [] : await this.templates.receiving([id]);
    const kind = RECEIVER_KINDS.find(({ type }) => type === found?.type);
    if (!kind || found?.service !== service) {
      throw new BadRequest('The template no longer receives webhooks of this service.');
    }
    return { ...found, kind };
  }

  private audit(template: ReceiverTemplate, from: RowOf<WebhookDelivery>, to: number): void {
    const { id, name, kind, organizationId } = template;
    this.activity.record({
      operation: 'update',
      object1: { type: kind.type, id, name, organizationId },
      object2: { type: webhookDeliveries.type, id: to, name: from.event },
      association: 'redeliver',
      changes: { redelivered: [from.id, to] },
    });
  }
}

/** Returns the event of a delivery with a new GUID. */
function eventOf(row: RowOf<WebhookDelivery>): WebhookEvent {
  if (typeof row.payload !== 'string') {
    throw new BadRequest('This delivery cannot be redelivered, because its payload is not stored.');
  }
  return {
    service: row.service,
    type: row.event,
    guid: randomUUID(),
    guidWindowSeconds: null,
    ref: row.ref,
    refName: row.ref_name,
    headRef: row.head_ref,
    statusApi: row.status_api,
    // Null, so that a redelivered old push replaces no other push.
    pushRef: null,
    sender: row.sender,
    payload: parseRecord(row.payload),
    payloadText: row.payload,
  };
}
