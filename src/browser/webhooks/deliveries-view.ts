import { html, type Html } from '../shared/html.js';
import { ACTIONS_HEADING, scrollTable } from '../shared/layout.js';
import { panelButton } from '../shared/panel-forms.js';
import { statusBadge, timeView, type Item } from '../shared/value-views.js';
import { isRecord } from '../../common/records.js';

/** Renders the last webhook deliveries with their results and a redeliver button. */
export function deliveriesView(
  deliveries: readonly Item[],
  { csrf, returnTo }: { csrf: string; returnTo: string },
): Html {
  if (deliveries.length === 0) {
    return html`<p class="hint">No deliveries yet. The code host can send a test.</p>`;
  }
  return scrollTable(
    'Table of deliveries',
    ['Received', 'Event', 'Ref', 'Verdict', 'Launched', ACTIONS_HEADING],
    deliveries.map((delivery) => deliveryRow(delivery, { csrf, returnTo })),
  );
}

function deliveryRow(delivery: Item, form: { csrf: string; returnTo: string }): Html {
  const { url, received, event, ref_name: ref, verdict, reason, related } = delivery;
  const links = isRecord(related) ? related : {};
  // A rejected delivery has no payload.
  const redeliver = verdict === 'rejected' ? undefined : links.redeliver;
  return html`<tr>
    <td data-label="Received"><a href="${String(url)}">${timeView(String(received))}</a></td>
    <td data-label="Event">${String(event)}</td>
    <td data-label="Ref">${typeof ref === 'string' && html`<code>${ref}</code>`}</td>
    <td data-label="Verdict">
      ${statusBadge(String(verdict))}
      ${typeof reason === 'string' && reason !== '' && html`<small>${reason}</small>`}
    </td>
    <td data-label="Launched">
      ${typeof links.job === 'string' && html`<a href="${links.job}">Run ${String(delivery.job)}</a>`}
    </td>
    <td class="end">
      ${typeof redeliver === 'string' && panelButton({ action: redeliver, ...form }, 'Redeliver')}
      ${typeof redeliver === 'string' && html`<a class="button small" href="${String(url)}">Payload</a>`}
    </td>
  </tr>`;
}
