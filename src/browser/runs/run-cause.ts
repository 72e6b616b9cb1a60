import { html, type Html, type HtmlValue } from '../shared/html.js';
import { folded } from '../shared/layout.js';
import { labelOf } from '../../common/fields/label.js';
import type { RunFailure } from '../../runs/events/run-outputs.repository.js';

/** Maximum number of failures in the summary; the list of events is complete. */
export const MAX_FAILURES = 20;
const FAILED: ReadonlySet<string> = new Set(['failed', 'error', 'canceled']);

/** The part of a run that explains its status. */
export interface Explained {
  url: string;
  status: string;
  job_explanation?: string;
  result_traceback?: string;
}

/**
 * Renders the reason why a run failed or why it waits.
 *
 * @param events path of the list of its events
 */
export function causeView(
  run: Explained,
  failures: readonly RunFailure[],
  events: string,
): Html | null {
  const explanation = run.job_explanation ?? '';
  const traceback = run.result_traceback ?? '';
  if (!FAILED.has(run.status)) {
    return explanation === ''
      ? null
      : html`<section class="message warn" aria-label="Why">
          <p>${explanation}</p>
        </section>`;
  }
  const hosts = new Set(failures.map(({ host_name: name }) => name)).size;
  return html`<section class="message error cause" aria-labelledby="cause-title">
    <h2 id="cause-title">${headline(run.status, failures[0]?.total ?? 0, hosts)}</h2>
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

function headline(status: string, failures: number, hosts: number): string {
  if (status === 'canceled') return 'The run was canceled';
  const word = status === 'error' ? 'The run could not be completed' : 'The run failed';
  if (failures === 0) return word;
  const tasks = failures === 1 ? 'one task' : `${failures} tasks`;
  return failures > MAX_FAILURES
    ? `${word}: ${failures} failures`
    : `${word}: ${tasks} on ${hosts === 1 ? 'one host' : `${hosts} hosts`}`;
}

/** Renders each failure message once, with its hosts and the first line of its output. */
export const failureList = (
  url: string,
  failures: readonly RunFailure[],
  events: string,
): HtmlValue => [
  html`<ul class="failures">
    ${alike(failures).map(
      ({ first: { task, dark, message, start_line: line }, all }) =>
        html`<li>
          <strong>${task === '' ? 'Task' : task}</strong> on
          ${all.map(
            ({ id, host_name: host }, index) =>
              html`${index > 0 && ', '}<a href="/api/v2/job_events/${id}/"
                  ><strong>${host}</strong></a
                >`,
          )}
          <span class="badge bad">${labelOf(dark ? 'unreachable' : 'failed')}</span>
          <a href="${url}?line=${line + 1}#line-${line + 1}">Line ${line + 1}</a>
          ${message !== '' && html`<pre tabindex="0">${message}</pre>`}
        </li>`,
    )}
  </ul>`,
  (failures[0]?.total ?? 0) > failures.length &&
    html`<p>
      <a href="${events}?failed=true">All ${failures[0]?.total} failures</a>
    </p>`,
];

interface AlikeFailures {
  first: RunFailure;
  all: RunFailure[];
}

/** Groups failures with the same task and message, in the order of their first occurrence. */
function alike(failures: readonly RunFailure[]): AlikeFailures[] {
  const groups = new Map<string, AlikeFailures>();
  for (const failure of failures) {
    const { play, task, dark, message } = failure;
    const key = JSON.stringify([play, task, dark, message]);
    const group = groups.get(key) ?? { first: failure, all: [] };
    group.all.push(failure);
    groups.set(key, group);
  }
  return [...groups.values()];
}
