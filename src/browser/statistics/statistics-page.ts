import { columnChart } from '../shared/column-chart.js';
import { dayName, outcomeChart } from '../shared/outcome-chart.js';
import { attributes, html, type Html, type HtmlValue } from '../shared/html.js';
import { page, scrollTable } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';
import { durationText, shorten, statusBadge, timeView } from '../shared/value-views.js';
import type { DayOutcomes } from '../../runs/run-statistics.repository.js';
import type { Capacity, Statistics } from '../../statistics/statistics.service.js';

const PERIODS = [7, 14, 30, 90];
const MAX_NAME = 80;

/** Renders the statistics page: charts, and all of their numbers as text. */
export function statisticsPage(context: PageContext, statistics: Statistics): string {
  const { days, outcomes, slow_tasks: tasks, failing_hosts: hosts } = statistics;
  return page({
    context,
    title: 'Statistics',
    content: html`<div class="heading">
        <h1>Statistics</h1>
        <nav class="tools" aria-label="Period">
          ${PERIODS.map(
            (period) =>
              html`<a
                class="button small"
                href="/statistics/?days=${period}"
                ${attributes({ 'aria-current': period === days && 'true' })}
                >${period} days</a
              >`,
          )}
          <a class="button small" href="/api/v2/statistics/?days=${days}">As data</a>
        </nav>
      </div>
      ${card('now', 'Now', queueView(statistics))}
      ${card('outcomes', `Jobs of the last ${days} days`, outcomeChart(outcomes))}
      ${card('durations', 'How long jobs took', durationChart(outcomes))}
      <div class="cards">
        ${card('tasks', 'Slowest tasks', tasks.length > 0 ? taskTable(tasks) : NO_DATA)}
        ${card('hosts', 'Hosts that fail most', hosts.length > 0 ? hostTable(hosts) : NO_DATA)}
      </div>`,
  });
}

const card = (id: string, title: string, content: HtmlValue): Html =>
  html`<section class="card" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${content}
  </section>`;

const NO_DATA = html`<p class="hint">No data in this period.</p>`;

const durationChart = (outcomes: readonly DayOutcomes[]): Html =>
  columnChart({
    summary: 'Median duration of the jobs of each day',
    title: 'Median duration by day',
    unit: 'Day',
    columns: outcomes.map(dayName),
    series: [
      {
        key: 'median',
        label: 'median',
        values: outcomes.map(({ median_seconds: seconds }) => seconds ?? 0),
      },
    ],
    legend: () => 'Median duration',
    format: durationText,
  });

const taskTable = (tasks: Statistics['slow_tasks']): Html =>
  barTable(
    ['Task', 'Mean', 'Longest', 'Times'],
    tasks.map(({ task, name, job_template: id, mean_seconds: mean, longest_seconds, times }) => ({
      name: html`${shorten(task, MAX_NAME)}<br /><small
          >${linked('job_templates', id, name)}</small
        >`,
      size: mean,
      part: 'median',
      cells: [durationText(mean), durationText(longest_seconds), times],
    })),
  );

/** Renders the hosts with the highest rates of failed jobs first. */
const hostTable = (hosts: Statistics['failing_hosts']): Html =>
  barTable(
    ['Host', 'Rate', 'Failed jobs', 'Last'],
    hosts
      .map((host) => ({ ...host, rate: host.failed / host.jobs }))
      .toSorted((first, second) => second.rate - first.rate)
      .map(({ host, name, failed, jobs, rate, last_failed: last }) => ({
        name: linked('hosts', host, name),
        size: rate,
        part: 'failed',
        cells: [
          `${Math.round(rate * 100)} %`,
          `${failed} of ${jobs}`,
          html`<a href="/api/v2/jobs/${last}/">#${last}</a>`,
        ],
      })),
  );

const linked = (path: string, id: number | null, name: string): Html =>
  id === null
    ? html`${shorten(name, MAX_NAME)}`
    : html`<a href="/api/v2/${path}/${id}/">${shorten(name, MAX_NAME)}</a>`;

interface BarRow {
  name: Html;
  size: number;
  part: string;
  cells: readonly HtmlValue[];
}

const BAR = { width: 120, height: 12 };

/** Renders a table with a bar for each row, scaled to the largest value. */
function barTable([first = '', ...others]: readonly string[], rows: readonly BarRow[]): Html {
  const max = Math.max(...rows.map(({ size }) => size)) || 1;
  return scrollTable(
    first,
    [first, html`<span class="hidden">Share</span>`, ...others],
    rows.map(
      ({ name, size, part, cells }) =>
        html`<tr>
          <th scope="row">${name}</th>
          <td>
            <svg class="host-bar" width="${BAR.width}" height="${BAR.height}" aria-hidden="true">
              <rect
                class="part-${part}"
                width="${Math.max(2, (size / max) * BAR.width).toFixed(1)}"
                height="${BAR.height}"
              />
            </svg>
          </td>
          ${cells.map(
            (cell, index) => html`<td class="number" data-label="${others[index]}">${cell}</td>`,
          )}
        </tr>`,
    ),
    'bars stacks',
  );
}

function queueView({ queue, capacity }: Statistics): Html {
  return html`${
    queue.length === 0
      ? html`<p class="hint">No waiting or running jobs.</p>`
      : html`<ul class="rows">
          ${queue.map(
            ({ status, runs, oldest }) =>
              html`<li>
                ${statusBadge(status)}
                <a href="/api/v2/unified_jobs/?status=${status}&order_by=id"
                  >${runs === 1 ? 'One run' : `${runs} runs`}</a
                >
                <small>The first was launched at ${timeView(oldest)}</small>
              </li>`,
          )}
        </ul>`
  }
  ${capacity && capacityView(capacity)}`;
}

function capacityView({ capacity, consumed }: Capacity): Html {
  const share = capacity === 0 ? 0 : Math.min(1, consumed / capacity);
  return html`<p class="capacity">
    <svg class="host-bar" width="200" height="12" aria-hidden="true">
      <rect class="part-ground" width="200" height="12" />
      <rect class="part-median" width="${(share * 200).toFixed(1)}" height="12" />
    </svg>
    ${
      capacity === 0
        ? 'No worker is running.'
        : `${consumed} of ${capacity} forks of the instances in use.`
    }
  </p>`;
}
