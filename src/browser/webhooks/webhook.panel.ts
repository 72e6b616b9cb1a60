import { Injectable } from '@nestjs/common';
import { attributes, html, type Html, type HtmlValue } from '../shared/html.js';
import { folded, ACTIONS_HEADING, scrollTable } from '../shared/layout.js';
import { panelButton, panelCard } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { formUrl } from '../shared/form-parameters.js';
import { statusBadge, timeView, type Item } from '../shared/value-views.js';
import { FORK_RULES } from '../../code-hosts/forks.js';
import { productHeader } from '../../code-hosts/headers.js';
import { Settings } from '../../config/settings.js';
import { BaseUrl } from '../../settings/base-url.service.js';
import { RECEIVER_KINDS } from '../../webhooks/receiver-kinds.js';
import { webhookDeliveries } from '../../webhooks/webhook-deliveries.resource.js';
import type { WebhookSetup } from '../../webhooks/webhook-setups.service.js';
import { webhookStatusPosts } from '../../webhooks/webhook-status-posts.resource.js';
import { isManualProject, serviceButtons } from './template-webhook.panel.js';
import { filterValues } from '../shared/filter-fields.js';
import { templateAt, filterTestForm } from './filter-test.panel.js';
import { isRecord } from '../../common/records.js';

/** Maximum number of deliveries and status posts on the page; the lists of the API are complete. */
const LIMIT = '10';
const PAGE = 'webhook/';

interface Parts {
  setup: WebhookSetup;
  template: Item;
  templateUrl: string;
  csrf: string;
  /** Path of the page. */
  path: string;
}

/**
 * Renders the webhook setup of a template: values for the code host, deliveries, filters and status
 * posts.
 */
@Injectable()
@PagePanel(...RECEIVER_KINDS.map(({ type }) => `${type}s_webhook`))
export class WebhookPanel implements Panel<WebhookSetup> {
  constructor(
    private readonly source: PanelSource,
    private readonly baseUrl: BaseUrl,
    private readonly settings: Settings,
  ) {}

  async render(context: PanelContext<WebhookSetup>): Promise<Html> {
    const { object, actor, csrf, path, origin } = context;
    const templateUrl = path.slice(0, -PAGE.length);
    const template = await templateAt(this.source, templateUrl, actor);
    const id = String(template.id);
    const url = object.url.replace(/^https?:\/\/[^/]+/, await this.baseUrl.get(origin));
    const headers = this.settings.WEBHOOK_HEADER_ALIASES
      ? object.proof_headers.map(productHeader)
      : object.proof_headers;
    const setup = { ...object, url, proof_headers: headers };
    const parts: Parts = { setup, template, templateUrl, csrf, path };
    if (object.webhook_service === '') return panelCard('setup', 'Set-up', serviceForm(parts));
    const latest = { order_by: '-id', page_size: LIMIT };
    const deliveries = await this.source.list(
      webhookDeliveries,
      { ...latest, template: id },
      actor,
    );
    const posts = await this.source.list(
      webhookStatusPosts,
      { ...latest, job__unified_job_template: id },
      actor,
    );
    return html`${panelCard('setup', 'Enter this at the code host', setupView(parts))}
    ${panelCard(
      'deliveries',
      'Last deliveries',
      html`${deliveriesView(deliveries, { csrf, returnTo: `${path}#deliveries` })}
        <p><a href="${templateUrl}webhook_deliveries/?order_by=-id">All deliveries</a></p>`,
    )}
    ${panelCard('filters', 'Filters', filtersView(parts))}
    ${panelCard('posts', 'Statuses posted back', postsView(posts, parts))}`;
  }
}

const serviceForm = ({ template, templateUrl, csrf, path }: Parts): Html =>
  isManualProject(template)
    ? html`<p>Webhooks are not supported for manual projects.</p>`
    : html`<p>Select a code host to get its payload URL and secret.</p>
        ${serviceButtons({ action: templateUrl, csrf, returnTo: path })}`;

function setupView({ setup, templateUrl, csrf, path }: Parts): Html {
  const rotate = { action: `${templateUrl}webhook_key/`, csrf, returnTo: path };
  return html`${isLoopback(setup.url) && LOOPBACK_WARNING}
    <dl class="setup">
      ${copyable('Address (payload URL)', setup.url)} ${copyable('Secret', setup.webhook_key)}
      <div>
        <dt>Content type</dt>
        <dd>
          ${setup.content_types.map((type, index) => [index > 0 && ' or ', html`<code>${type}</code>`])}
        </dd>
      </div>
      <div>
        <dt>Events</dt>
        <dd>${setup.events.map((event) => html`<code class="method">${event}</code> `)}</dd>
      </div>
      <div>
        <dt>Signature</dt>
        <dd>
          The code host sends the signature or the secret in the header
          ${setup.proof_headers.map((name, index) => [index > 0 && ' or ', html`<code>${name}</code>`])}.
        </dd>
      </div>
    </dl>
    ${folded(
      'Replace the secret',
      html`<p>The old secret stops working immediately. Enter the new secret at the code host.</p>
        ${panelButton(rotate, 'Create new secret', 'danger')}`,
      { kind: 'plain' },
    )}`;
}

const isLoopback = (url: string): boolean =>
  /^(?:localhost|.*\.localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)$/.test(new URL(url).hostname);

const LOOPBACK_WARNING = html`<p class="message warn" role="alert">
  A code host on another machine cannot reach this address. Set
  <code>BASE_URL</code> to the public address of this installation.
</p>`;

/** Renders a value with a copy button, which a script adds. */
const copyable = (label: string, value: string): Html =>
  html`<div>
    <dt>${label}</dt>
    <dd>
      <div class="copy" data-copy>
        <pre ${attributes({ tabindex: 0, role: 'region', 'aria-label': label })}>${value}</pre>
      </div>
    </dd>
  </div>`;

function filtersView({ template, templateUrl, csrf }: Parts): HtmlValue {
  const { webhook_filters: filters, webhook_forks: forks } = template;
  const rule = FORK_RULES.find(([name]) => name === forks)?.[1];
  return html`${
    rule !== undefined &&
    html`<p>
      Changes from forks: <strong>${rule}</strong>.
      <a href="${formUrl(templateUrl, 'patch')}">Change</a>
    </p>`
  }
  ${filterTestForm(template, filterValues(filters), csrf)}`;
}

function postsView(posts: readonly Item[], { template, templateUrl }: Parts): Html {
  if (template.webhook_credential === null) {
    return html`<p class="hint">
      No statuses are posted without a token:
      <a href="${formUrl(templateUrl, 'patch')}">choose a webhook credential</a>.
    </p>`;
  }
  if (posts.length === 0) return html`<p class="hint">No statuses posted yet.</p>`;
  return html`<ul class="rows">
    ${posts.map(
      ({ url, created, status, outcome, reason }) =>
        html`<li>
          <a href="${String(url)}">${String(status)}</a> ${statusBadge(String(outcome))}
          <small>${timeView(String(created))} ${String(reason ?? '')}</small>
        </li>`,
    )}
  </ul>`;
}

/** Renders the last webhook deliveries with their results and a redeliver button. */
function deliveriesView(
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
