import { html, type Html, type HtmlValue } from '../shared/html.js';
import { folded } from '../shared/layout.js';
import { labelOf } from '../../common/fields/label.js';
import type { RunFailure } from '../../runs/output/run-outputs.repository.js';

/** Maximum number of different failures in the summary; the list of events is complete. */
export const MAX_FAILURES = 20;
/** Statuses of runs that did not succeed. */
export const UNSUCCESSFUL: ReadonlySet<string> = new Set(['failed', 'error', 'canceled']);

/** Members of a run that explain its status. */
export interface RunExplanation {
  url: string;
  status: string;
  job_explanation?: string;
  result_traceback?: string;
}

/**
 * Renders the reason why a run failed or was canceled, or the explanation of another status; null if that
 * status has no explanation.
 *
 * @param events path of the list of events of the run
 */
export function causeView(
  run: RunExplanation,
  failures: readonly RunFailure[],
  events: string,
): Html | null {
  const explanation = run.job_explanation ?? '';
  const traceback = run.result_traceback ?? '';
  if (!UNSUCCESSFUL.has(run.status)) {
    return explanation === ''
      ? null
      : html`<section class="message warn" aria-label="Explanation">
          <p>${explanation}</p>
        </section>`;
  }
  return html`<section class="message error cause" aria-labelledby="cause-title">
    <h2 id="cause-title">${headline(run.status, failures[0])}</h2>
    ${explanations(explanation)} ${failures.length > 0 && failureList(run.url, failures, events)}
    ${
      traceback !== '' &&
      folded('Traceback', html`<pre tabindex="0">${traceback}</pre>`, {
        kind: 'plain',
        open: failures.length === 0 && explanation === '',
      })
    }
  </section>`;
}

export const explanations = (text: string): HtmlValue => text !== '' && html`<p>${text}</p>`;

function headline(status: string, first: RunFailure | undefined): string {
  if (status === 'canceled') return 'The run was canceled';
  const text = status === 'error' ? 'The run could not be completed' : 'The run failed';
  if (!first) return text;
  const counted = (count: number, noun: string): string =>
    count === 1 ? `one ${noun}` : `${count} ${noun}s`;
  return `${text}: ${counted(first.total_tasks, 'task')} on ${counted(first.total_hosts, 'host')}`;
}

/** Renders each failure message once, with its hosts and the first line of its output. */
export const failureList = (
  url: string,
  failures: readonly RunFailure[],
  events: string,
): HtmlValue => [
  html`<ul class="failures">
    ${failures.map(
      ({ task, dark, message, start_line: line, hosts, count }) =>
        html`<li>
          <strong>${task === '' ? 'Task' : task}</strong> on
          ${hosts.map(
            ({ id, name }, index) =>
              html`${index > 0 && ', '}<a href="/api/v2/job_events/${id}/"
                  ><strong>${name}</strong></a
                >`,
          )}
          ${count > hosts.length && `and ${count - hosts.length} more hosts`}
          <span class="badge bad">${labelOf(dark ? 'unreachable' : 'failed')}</span>
          <a href="${url}?line=${line + 1}#line-${line + 1}">Line ${line + 1}</a>
          ${message !== '' && html`<pre tabindex="0">${message}</pre>`}
        </li>`,
    )}
  </ul>`,
  failures.reduce((sum, { count }) => sum + count, 0) < (failures[0]?.total ?? 0) &&
    html`<p>
      <a href="${events}?failed=true">All ${failures[0]?.total} failures</a>
    </p>`,
];
