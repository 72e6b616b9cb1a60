import { assetUrl } from '../shared/assets.js';
import { html, type Html } from '../shared/html.js';
import type { BookmarkedObject } from '../shared/bookmarked-objects.service.js';
import { page } from '../shared/layout.js';
import { outcomeChart } from '../shared/outcome-chart.js';
import type { PageContext } from '../shared/page-context.js';
import { shorten, statusBadge, timeView } from '../shared/value-views.js';
import { DAYS, type Dashboard, type DashboardRun, type SetupStep } from './dashboard.service.js';
import { labelOf } from '../../common/fields/label.js';

/** Interval between refreshes of a visible page, in seconds. */
const REFRESH_SECONDS = 20;

export function dashboardPage(context: PageContext, dashboard: Dashboard): string {
  const { outcomes, active, failures, approvals, destinations, verdicts } = dashboard;
  const { starred, recent, steps, isLive } = dashboard;
  return page({
    context,
    title: 'Dashboard',
    content: html`<h1>Dashboard</h1>
      ${steps.length > 0 && card('setup', 'First steps', checklist(steps))}
      ${card(
        'plot',
        `Jobs of the last ${DAYS} days`,
        html`${outcomeChart(outcomes)}
          <p><a href="/statistics/">More statistics</a></p>`,
      )}
      <div class="cards">
        ${card('starred', 'Starred', bookmarkList(starred, 'Star an object on its page to keep it here.'))}
        ${card('recent', 'Recently viewed', bookmarkList(recent, 'No pages viewed yet.'))}
        ${card(
          'active',
          'Active now',
          runList(
            active,
            'No active runs.',
            '/api/v2/unified_jobs/?finished__isnull=true&order_by=-id',
          ),
        )}
        ${card(
          'failures',
          'Recent failures',
          runList(
            failures,
            'No failures.',
            '/api/v2/unified_jobs/?status__in=failed,error&order_by=-id',
          ),
        )}
        ${card(
          'approvals',
          'Waiting for your approval',
          runList(
            approvals,
            'No approvals are waiting for you.',
            '/api/v2/workflow_approvals/?status=pending&order_by=-id',
          ),
        )}
        ${card('destinations', 'Failing notifications', destinationList(destinations))}
        ${card('deliveries', 'Webhook deliveries', verdictList(verdicts))}
      </div>
      ${
        isLive &&
        html`<script
          src="${assetUrl('live.js')}"
          data-refresh-seconds="${REFRESH_SECONDS}"
          defer
        ></script>`
      }`,
  });
}

const card = (id: string, title: string, content: Html): Html =>
  html`<section id="${id}" class="card" aria-labelledby="${id}-title" data-refresh>
    <h2 id="${id}-title">${title}</h2>
    ${content}
  </section>`;

const hint = (text: string): Html => html`<p class="hint">${text}</p>`;

function runList(runs: readonly DashboardRun[], emptyText: string, all: string): Html {
  const [first] = runs;
  if (!first) return hint(emptyText);
  const { total } = first;
  return html`<ul class="rows">
      ${runs.map(
        ({ url, name, type, status, since }) =>
          html`<li>
            <a href="${url}">${shorten(name, 60)}</a>
            ${statusBadge(status)}
            <small>${labelOf(type)}, ${timeView(since)}</small>
          </li>`,
      )}
    </ul>
    ${total > runs.length && html`<p><a href="${all}">All ${total}</a></p>`}`;
}

function bookmarkList(objects: readonly BookmarkedObject[], emptyText: string): Html {
  if (objects.length === 0) return hint(emptyText);
  return html`<ul class="rows">
    ${objects.map(
      ({ name, label, url }) =>
        html`<li>
          <a href="${url}">${shorten(name, 60)}</a>
          <small>${label}</small>
        </li>`,
    )}
  </ul>`;
}

function destinationList(destinations: Dashboard['destinations']): Html {
  if (destinations.length === 0) return hint('No failed notifications.');
  return html`<ul class="rows">
    ${destinations.map(
      ({ url, name, failures, error }) =>
        html`<li>
          <a href="${url}">${shorten(name, 60)}</a>
          <span class="badge bad">${failures} not delivered</span>
          <small>${shorten(error, 160)}</small>
        </li>`,
    )}
  </ul>`;
}

function verdictList(verdicts: Dashboard['verdicts']): Html {
  if (verdicts.length === 0) return hint('No deliveries.');
  return html`<ul class="rows">
    ${verdicts.map(
      ({ verdict, deliveries }) =>
        html`<li>
          <a href="/api/v2/webhook_deliveries/?verdict=${verdict}&order_by=-id"
            >${labelOf(verdict)}</a
          >
          <b>${deliveries}</b>
        </li>`,
    )}
  </ul>`;
}

/** Renders the steps of the first setup. */
function checklist(steps: readonly SetupStep[]): Html {
  return html`<ol class="checklist">
    ${steps.map(
      ({ label, about, isDone, url }, index) =>
        html`<li class="${isDone ? 'done' : ''}">
          <span class="tick" aria-hidden="true">${isDone ? '✓' : index + 1}</span>
          <div>
            ${
              isDone || url === null
                ? html`<strong>${label}</strong
                    >${isDone && html`<span class="hidden"> (done)</span>`}`
                : html`<a href="${url}">${label}</a>`
            }
            <small>${about}</small>
          </div>
        </li>`,
    )}
  </ol>`;
}
