import { Injectable } from '@nestjs/common';
import { html, type Html, type HtmlValue } from '../shared/html.js';
import { panelCard, panelForm, type PanelForm } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { statusBadge, timeView, type Item } from '../shared/value-views.js';
import { WEBHOOK_SERVICES } from '../../code-hosts/services.js';
import { RECEIVER_KINDS } from '../../webhooks/receiver-kinds.js';
import { webhookDeliveries } from '../../webhooks/webhook-deliveries.resource.js';

interface ShownTemplate {
  id: number;
  type: string;
  url: string;
  /** Absent except for projects. */
  scm_type?: string;
  webhook_service: string;
  summary_fields: { user_capabilities?: { edit?: boolean } };
}

/** Renders the webhook of a template with its last delivery, or buttons that set up a webhook. */
@Injectable()
@PagePanel(...RECEIVER_KINDS.map(({ type }) => type))
export class TemplateWebhookPanel implements Panel<ShownTemplate> {
  /** Action whose form is on the page of the webhook. */
  readonly covers = ['test'];

  constructor(private readonly source: PanelSource) {}

  async render({ object, actor, csrf }: PanelContext<ShownTemplate>): Promise<Html | null> {
    const { id, type, url, webhook_service: service, summary_fields: summary } = object;
    const isProject = type === 'project';
    const mayEdit = summary.user_capabilities?.edit === true;
    const page = `${url}webhook/`;
    if (service === '') {
      if (!mayEdit || isManualProject(object)) return null;
      const form = { action: url, csrf, returnTo: page };
      return panelCard(
        'webhook',
        'Webhook',
        html`<p class="hint">
            ${
              isProject
                ? 'Sync this project with every push to a repository.'
                : 'Launch this template from a repository.'
            }
            Connect:
          </p>
          ${serviceButtons(form)}`,
      );
    }
    const [last] = await this.source.list(
      webhookDeliveries,
      { template: String(id), order_by: '-id', page_size: '1' },
      actor,
    );
    const label = WEBHOOK_SERVICES.find(([name]) => name === service)?.[1] ?? service;
    return panelCard(
      'webhook',
      'Webhook',
      html`<p>
          A repository of ${label} ${isProject ? 'syncs this project' : 'launches this template'}.
          ${lastDelivery(last)}
        </p>
        ${mayEdit && html`<a class="button" href="${page}">Address, secret and deliveries</a>`}`,
    );
  }
}

/** Returns true for a project without a source, which accepts no webhook. */
export const isManualProject = ({ scm_type: kind }: { scm_type?: unknown }): boolean => kind === '';

function lastDelivery(last: Item | undefined): HtmlValue {
  if (!last) return 'No deliveries yet.';
  const { url, event, verdict, received } = last;
  // A rejected delivery has no event.
  const label = typeof event === 'string' && event !== '' ? event : 'a delivery';
  return html`Last: <a href="${String(url)}">${label}</a> ${statusBadge(String(verdict))}
    <small>${timeView(String(received))}</small>`;
}

/** Renders a button for each code host, which enables the webhook and creates its key and URL. */
export const serviceButtons = (form: PanelForm): Html =>
  panelForm(
    { ...form, method: 'PATCH', kind: 'actions' },
    html`${WEBHOOK_SERVICES.filter(([name]) => name !== '').map(
      ([name, label]) =>
        html`<button class="button" name="webhook_service" value="${name}">${label}</button>`,
    )}`,
  );
