import { html, type Html } from '../shared/html.js';
import { scrollTable } from '../shared/layout.js';
import type { RunHost } from '../../runs/events/job-host-summaries.repository.js';

/** Maximum number of hosts on the page, failed hosts first; the API list is complete. */
export const MAX_HOSTS = 50;
const BAR_WIDTH = 200;
const BAR_HEIGHT = 12;

const COLUMNS = [
  ['ok', 'OK'],
  ['changed', 'Changed'],
  ['failures', 'Failed'],
  ['dark', 'Unreachable'],
  ['skipped', 'Skipped'],
] as const;

type Part = (typeof COLUMNS)[number][0];

/** Renders the results of each host as a bar and, for screen readers, as numbers. */
export function hostSummaries(url: string, hosts: readonly RunHost[]): Html {
  const total = hosts[0]?.total ?? 0;
  return html`<section aria-labelledby="hosts-title">
    <h2 id="hosts-title">Hosts</h2>
    ${scrollTable(
      'Hosts of the run',
      [
        'Host',
        html`<span class="hidden">Share</span>`,
        ...COLUMNS.map(
          ([part, label]) =>
            html`<span class="key part-${part}" aria-hidden="true"></span>${label}`,
        ),
      ],
      hosts.map(
        (host) =>
          html`<tr>
            <th scope="row">${nameOf(host)}</th>
            <td>${bar(host)}</td>
            ${COLUMNS.map(
              ([part, label]) => html`<td class="number" data-label="${label}">${host[part]}</td>`,
            )}
          </tr>`,
      ),
      'hosts stacks',
    )}
    ${
      total > hosts.length &&
      html`<p><a href="${url}job_host_summaries/">All ${total} hosts</a></p>`
    }
  </section>`;
}

const nameOf = ({ host_id: id, host_name: name }: RunHost): Html =>
  id === null ? html`${name}` : html`<a href="/api/v2/hosts/${id}/">${name}</a>`;

function bar(host: RunHost): Html {
  // `ok` also counts changed tasks.
  const parts: Record<Part, number> = { ...host, ok: Math.max(0, host.ok - host.changed) };
  const sum = COLUMNS.reduce((all, [part]) => all + parts[part], 0) || 1;
  let x = 0;
  return html`<svg
    class="host-bar"
    viewBox="0 0 ${BAR_WIDTH} ${BAR_HEIGHT}"
    width="${BAR_WIDTH}"
    height="${BAR_HEIGHT}"
    aria-hidden="true"
  >
    ${COLUMNS.map(([part]) => {
      const width = (parts[part] / sum) * BAR_WIDTH;
      const start = x;
      x += width;
      return (
        width > 0 &&
        html`<rect
          class="part-${part}"
          x="${start.toFixed(1)}"
          y="0"
          width="${width.toFixed(1)}"
          height="${BAR_HEIGHT}"
        />`
      );
    })}
  </svg>`;
}
