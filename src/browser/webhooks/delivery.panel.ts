import { Injectable } from '@nestjs/common';
import { BadRequest, Forbidden } from '../../common/errors/errors.js';
import { isRecord } from '../../common/records.js';
import { errorResponseOf } from '../../common/rest/errors.filter.js';
import { resource } from '../../common/resource/define-resource.js';
import { responseMessage, IGNORED } from '../../webhooks/receiver-responses.js';
import { RECEIVER_KINDS } from '../../webhooks/receiver-kinds.js';
import { html, type Html } from '../shared/html.js';
import { jsonView } from '../shared/json-view.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/panels.service.js';
import { panelCard } from '../shared/panel-forms.js';
import { statusBadge } from '../shared/value-views.js';

export interface ShownDelivery {
  id: number;
  /** Empty for unverified requests. */
  event: string;
  verdict: 'accepted' | 'duplicate' | 'ignored' | 'rejected';
  reason: string;
  answer: number;
  job: number | null;
  related: Readonly<Record<string, unknown>>;
}

/** Renders the response to the code host, rebuilt from the record of the delivery. */
@Injectable()
@PagePanel('webhook_delivery')
export class DeliveryPanel implements Panel<ShownDelivery> {
  render({ object }: PanelContext<ShownDelivery>): Html {
    const { answer, verdict, reason } = object;
    const body = responseBody(object);
    return panelCard(
      'response',
      'Response',
      html`<p><strong>${answer}</strong> ${statusBadge(verdict)} ${reason}</p>
        ${
          body
            ? jsonView(body, 'Body of the response')
            : html`<p class="hint">
                The response body is not available, because the run or the template was deleted.
              </p>`
        }`,
    );
  }
}

/** Returns the body of the response to a delivery; null if the run or template was deleted. */
export function responseBody(delivery: ShownDelivery): object | null {
  const { id, event, verdict, reason, answer, job, related } = delivery;
  if (verdict === 'rejected') {
    const { body } = errorResponseOf(answer === 403 ? new Forbidden() : new BadRequest(reason));
    return isRecord(body) ? body : null;
  }
  if (verdict === 'ignored') {
    // The response to an unsigned connection test does not contain the id of the delivery.
    return event === '' ? { message: IGNORED } : { message: IGNORED, delivery: id };
  }
  const kind = RECEIVER_KINDS.find(({ type }) =>
    String(related.template).startsWith(`/api/v2/${resource(type).path}/`),
  );
  if (!kind || job === null) return null;
  return { message: responseMessage(verdict, kind), delivery: id, job, url: related.job };
}
