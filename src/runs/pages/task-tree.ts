import { html, type Html, type HtmlValue } from '../../common/pages/html.js';
import type { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import { keysOf } from '../../common/records.js';

/** Events of a run that the page looks at; the list of events has all. */
const MAX_EVENTS = 20_000;
const MAX_TASKS = 200;
/** Hosts that a task names, those that failed first. */
const MAX_HOSTS = 20;

/** What came of a task, by host. */
interface HostResult {
  id: number;
  host: string;
  outcome: Outcome;
}

type Outcome = 'ok' | 'changed' | 'failures' | 'dark' | 'skipped';

export interface TaskRow extends Record<string, unknown> {
  play: string;
  task: string;
  total: number;
  ok: number;
  changed: number;
  failures: number;
  dark: number;
  skipped: number;
  hosts: HostResult[];
}

const LABELS: Record<Outcome, string> = {
  ok: 'OK',
  changed: 'changed',
  failures: 'failed',
  dark: 'unreachable',
  skipped: 'skipped',
};
const OUTCOMES = keysOf(LABELS);

/** The tasks of a run in their order, with what came of each, in one statement. */
export function loadTasks(database: Database, runId: number): Promise<TaskRow[]> {
  return database.rows<TaskRow>(sql`
    WITH result AS (
      SELECT id, counter, parent_uuid, play, task, host_name,
        CASE WHEN event = 'runner_on_unreachable' THEN 'dark'
          WHEN event IN ('runner_on_failed', 'runner_on_async_failed', 'runner_on_error')
            THEN 'failures'
          WHEN event = 'runner_on_skipped' THEN 'skipped'
          WHEN changed THEN 'changed' ELSE 'ok' END AS outcome
      FROM job_events
      WHERE job_id = ${runId} AND counter <= ${MAX_EVENTS} AND task <> '' AND event IN (
        'runner_on_ok', 'runner_on_async_ok', 'runner_on_failed', 'runner_on_async_failed',
        'runner_on_error', 'runner_on_unreachable', 'runner_on_skipped')),
    ranked AS (
      SELECT *, row_number() OVER (PARTITION BY play, task, parent_uuid
        ORDER BY outcome IN ('failures', 'dark') DESC, counter) AS place FROM result)
    SELECT play, task, count(*)::int AS total,
      count(*) FILTER (WHERE outcome = 'ok')::int AS ok,
      count(*) FILTER (WHERE outcome = 'changed')::int AS changed,
      count(*) FILTER (WHERE outcome = 'failures')::int AS failures,
      count(*) FILTER (WHERE outcome = 'dark')::int AS dark,
      count(*) FILTER (WHERE outcome = 'skipped')::int AS skipped,
      json_agg(json_build_object('id', id, 'host', host_name, 'outcome', outcome)
        ORDER BY place) FILTER (WHERE place <= ${MAX_HOSTS}) AS hosts
    FROM ranked GROUP BY play, task, parent_uuid ORDER BY min(counter) LIMIT ${MAX_TASKS}`);
}

/** Plays, their tasks and the hosts of each, to be unfolded; what failed is open at first. */
export function taskTree(url: string, tasks: readonly TaskRow[]): Html | null {
  if (tasks.length === 0) return null;
  const byPlay = new Map<string, TaskRow[]>();
  for (const task of tasks) byPlay.set(task.play, [...(byPlay.get(task.play) ?? []), task]);
  return html`<section class="card" aria-labelledby="tasks-title">
    <div class="line">
      <h2 id="tasks-title">Tasks</h2>
      <a class="button small" href="${url}job_events/">All events</a>
    </div>
    ${[...byPlay].map(
      ([play, own]) =>
        html`<h3>${play === '' ? 'Play' : play}</h3>
          <ul class="tree">
            ${own.map(taskView)}
          </ul>`,
    )}
    ${tasks.length === MAX_TASKS && html`<p class="hint">Only the first tasks are shown.</p>`}
  </section>`;
}

const taskView = (task: TaskRow): Html =>
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

const TONES: Record<Outcome, string> = {
  ok: 'good',
  changed: 'busy',
  failures: 'bad',
  dark: 'bad',
  skipped: 'plain',
};

const count = (task: TaskRow, outcome: Outcome): HtmlValue =>
  task[outcome] > 0 &&
  html`<span class="badge ${TONES[outcome]}">${task[outcome]} ${LABELS[outcome]}</span> `;
