import { assetUrl } from '../shared/assets.js';
import { columnChart, type Series } from '../shared/column-chart.js';
import { html, type Html } from '../shared/html.js';
import type { BookmarkedObject } from '../shared/bookmarked-objects.service.js';
import { page } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';
import type { DayCount } from '../../runs/run-overviews.repository.js';
import { shorten, statusBadge, timeView } from '../shared/values.js';
import { DAYS, type Dashboard, type DashboardRun } from './dashboard.service.js';
import { labelOf } from '../../common/fields/label.js';

/** Interval between refreshes of a visible page, in seconds. */
const REFRESH_SECONDS = 20;

/** Renders the dashboard. */
export function dashboardPage(context: PageContext, dashboard: Dashboard): string {
  const { days, active, failures, approvals, destinations, verdicts } = dashboard;
  const { starred, recent, isLive } = dashboard;
  return page({
    context,
    title: 'Dashboard',
    content: html`<h1>Dashboard</h1>
      ${card(
        'plot',
        `Jobs of the last ${DAYS} days`,
        html`${dayPlot(days)}
          <p><a href="/statistics/">More statistics</a></p>`,
      )}
      <div class="cards">
        ${card('starred', 'Starred', bookmarkList(starred, 'The star on the page of an object keeps it here.'))}
        ${card('recent', 'Looked at lately', bookmarkList(recent, 'Nothing yet.'))}
        ${card(
          'active',
          'Active now',
          runList(
            active,
            'Nothing is running. Templates are launched from their pages.',
            '/api/v2/unified_jobs/?finished__isnull=true&order_by=-id',
          ),
        )}
        ${card(
          'failures',
          'Last failures',
          runList(
            failures,
            'Nothing has failed.',
            '/api/v2/unified_jobs/?status__in=failed,error&order_by=-id',
          ),
        )}
        ${card(
          'approvals',
          'Waiting for your decision',
          runList(
            approvals,
            'Nothing waits for you.',
            '/api/v2/workflow_approvals/?status=pending&order_by=-id',
          ),
        )}
        ${card('destinations', 'Failing notifications', destinationList(destinations))}
        ${card('deliveries', 'Webhook deliveries', verdictList(verdicts))}
        ${card('parts', 'How it fits together', PARTS)}
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

/** Renders a chart of finished runs by day. */
function dayPlot(days: readonly DayCount[]): Html {
  const series = (['successful', 'failed'] as const).map((key) => ({
    key,
    label: key,
    values: days.map((day) => day[key]),
  }));
  const legend = ({ label, values }: Series): string =>
    `${values.reduce((all, one) => all + one, 0)} ${label}`;
  return columnChart({
    summary: `${series.map(legend).join(' and ')} jobs in the last ${days.length} days`,
    title: 'Jobs by day',
    unit: 'Day',
    columns: days.map(({ day }) => ({ name: day, short: day.slice(5) })),
    series,
    legend,
  });
}

const card = (id: string, title: string, content: Html): Html =>
  html`<section id="${id}" class="card" aria-labelledby="${id}-title" data-refresh>
    <h2 id="${id}-title">${title}</h2>
    ${content}
  </section>`;

const nothing = (text: string): Html => html`<p class="hint">${text}</p>`;

function runList(runs: readonly DashboardRun[], none: string, all: string): Html {
  const [first] = runs;
  if (!first) return nothing(none);
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

function bookmarkList(objects: readonly BookmarkedObject[], none: string): Html {
  if (objects.length === 0) return nothing(none);
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
  if (destinations.length === 0) return nothing('Everything was delivered.');
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
  if (verdicts.length === 0) return nothing('Nothing was received.');
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

/** Steps of the first setup; each step needs the previous steps. */
const PARTS_IN_ORDER = [
  ['projects', 'Projects', 'where playbooks come from'],
  ['inventories', 'Inventories', 'the machines that they run on'],
  ['credentials', 'Credentials', 'what lets runs in there'],
  ['job_templates', 'Job templates', 'which playbook runs on what: launch them'],
  ['workflow_job_templates', 'Workflow job templates', 'templates as steps, with approvals'],
  ['notification_templates', 'Notification templates', 'who is told how it went'],
  ['organizations', 'Organizations', 'whose it all is, and who may do what'],
] as const;

const PARTS = html`<ul class="rows">
  ${PARTS_IN_ORDER.map(
    ([path, name, about]) =>
      html`<li>
        <a href="/api/v2/${path}/">${name}</a>
        <small>${about}</small>
      </li>`,
  )}
</ul>`;
