import { html, type Html, type HtmlValue } from '../shared/html.js';
import { append, keysOf } from '../../common/records.js';
import {
  type TaskOutcome,
  JobEventsRepository,
  type RunTask,
} from '../../runs/events/job-events.repository.js';

/**
 * Maximum number of events to read, of tasks, and of hosts of a task (failed hosts first). The list
 * of events is complete.
 */
const MAX = { events: 20_000, tasks: 200, hosts: 20 };

const LABELS: Record<TaskOutcome, string> = {
  ok: 'OK',
  changed: 'changed',
  failures: 'failed',
  dark: 'unreachable',
  skipped: 'skipped',
};
const OUTCOMES = keysOf(LABELS);

export const loadTasks = (events: JobEventsRepository, runId: number): Promise<RunTask[]> =>
  events.tasks(runId, MAX);

/**
 * Renders plays, their tasks and the hosts of each task; failed tasks are expanded.
 *
 * @param events path of the list of all events
 */
export function taskTree(events: string, tasks: readonly RunTask[]): Html | null {
  if (tasks.length === 0) return null;
  const byPlay = new Map<string, RunTask[]>();
  for (const task of tasks) append(byPlay, task.play, task);
  return html`<section class="card" aria-labelledby="tasks-title">
    <div class="line">
      <h2 id="tasks-title">Tasks</h2>
      <a class="button small" href="${events}">All events</a>
    </div>
    ${[...byPlay].map(
      ([play, playTasks]) =>
        html`<h3>${play === '' ? 'Play' : play}</h3>
          <ul class="tree">
            ${playTasks.map(taskView)}
          </ul>`,
    )}
    ${tasks.length === MAX.tasks && html`<p class="hint">Only the first tasks are shown.</p>`}
  </section>`;
}

const taskView = (task: RunTask): Html =>
  html`<li>
    <details class="plain" ${task.failures + task.dark > 0 && 'open'}>
      <summary>${task.task} ${OUTCOMES.map((outcome) => count(task, outcome))}</summary>
      <ul class="folded">
        ${task.hosts.map(
          ({ id, host, outcome }) =>
            html`<li>
              <a href="/api/v2/job_events/${id}/">${host}</a>
              <span class="badge ${TONES[outcome]}">${LABELS[outcome]}</span>
            </li>`,
        )}
        ${task.total > task.hosts.length && html`<li>and ${task.total - task.hosts.length} more</li>`}
      </ul>
    </details>
  </li>`;

const TONES: Record<TaskOutcome, string> = {
  ok: 'good',
  changed: 'busy',
  failures: 'bad',
  dark: 'bad',
  skipped: 'plain',
};

const count = (task: RunTask, outcome: TaskOutcome): HtmlValue =>
  task[outcome] > 0 &&
  html`<span class="badge ${TONES[outcome]}">${task[outcome]} ${LABELS[outcome]}</span> `;
