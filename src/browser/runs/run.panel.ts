import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { assetUrl } from '../shared/assets.js';
import { html, type Html } from '../shared/html.js';
import { WebhookCauses } from '../shared/webhook-causes.service.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/panels.service.js';
import { JobEventsRepository, type RunTask } from '../../runs/events/job-events.repository.js';
import { JobHostSummariesRepository } from '../../runs/events/job-host-summaries.repository.js';
import { RunOutputsRepository } from '../../runs/output/run-outputs.repository.js';
import { RunOverviewsRepository } from '../../runs/run-overviews.repository.js';
import { Database } from '../../database/database.js';
import { RunsRepository } from '../../runs/runs.repository.js';
import { isFinal } from '../../runs/state-machine.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { hostSummaries, MAX_HOSTS } from './host-summaries.js';
import { findLines } from './output-search.js';
import { runActions, type ShownRun } from './run-actions.js';
import { causeView, MAX_FAILURES, type RunExplanation } from './run-cause.js';
import { compare, comparisonView, namesOfChanged } from './run-comparison.js';
import { runSummary } from './run-summary.js';
import { loadOutput, outputView, type OutputContext } from './run-output.js';
import { loadTasks, taskTree } from './task-tree.js';

type ExplainedRun = ShownRun & RunExplanation;

/**
 * Renders a run: fields, actions, the cause of a failure, output, the comparison with the last
 * successful run, hosts and tasks. A script updates the page while the run is active.
 */
@Injectable()
@PagePanel('job', 'project_update', 'inventory_update', 'ad_hoc_command', 'system_job')
export class RunPanel implements Panel<ExplainedRun> {
  readonly isFirst = true;

  constructor(
    private readonly runs: RunsRepository,
    private readonly events: JobEventsRepository,
    private readonly summaries: JobHostSummariesRepository,
    private readonly outputs: RunOutputsRepository,
    private readonly overviews: RunOverviewsRepository,
    private readonly database: Database,
    private readonly settings: RuntimeSettings,
    private readonly causes: WebhookCauses,
  ) {}

  async render({ object: run, actor, csrf, query }: PanelContext<ExplainedRun>): Promise<Html> {
    const isActive = !isFinal(run.status);
    const { MAX_UI_JOB_EVENTS: max, UI_LIVE_UPDATES_ENABLED: isLive } = await this.settings.get(
      'MAX_UI_JOB_EVENTS',
      'UI_LIVE_UPDATES_ENABLED',
    );
    const hasLiveUpdates = isActive && isLive;
    const output = await loadOutput(this.outputs, run.id, lineIn(query.line), max);
    const search = await this.search(run, query.output);
    const failures = isActive ? [] : await this.outputs.failures(run.id, MAX_FAILURES);
    const hosts = run.type === 'job' ? await this.summaries.ofRun(run.id, MAX_HOSTS) : [];
    const tasks = await loadTasks(this.events, run.id);
    const someFailed = hosts.some(({ failures: failed, dark }) => failed + dark > 0);
    const events = `${run.url}${run.type === 'job' ? 'job_events' : 'events'}/`;
    const changes = !isActive && run.type === 'job' && (await this.comparison(run, tasks, actor));
    return html`${await runSummary(run, this.causes)}
      <div id="run-actions" class="actions" data-refresh>
        ${await runActions(this.runs, run, { actor, csrf, isActive, someFailed })}
      </div>
      <div id="run-cause" data-refresh>${causeView(run, failures, events)}</div>
      ${outputView(output, { run, isActive, hasLiveUpdates, search })}
      <div id="run-changes" data-refresh>${changes}</div>
      <div id="run-hosts" data-refresh>${hosts.length > 0 && hostSummaries(run.url, hosts)}</div>
      <div id="run-tasks" data-refresh>${taskTree(events, tasks)}</div>
      <script src="${assetUrl('output.js')}" defer></script>
      ${hasLiveUpdates && html`<script src="${assetUrl('live.js')}" defer></script>`}`;
  }

  private async search(run: ExplainedRun, query: unknown): Promise<OutputContext['search']> {
    const text = typeof query === 'string' ? query.slice(0, MAX_SEARCH).trim() : '';
    return text === '' ? null : { text, lines: await findLines(this.outputs, run.id, text) };
  }

  private async comparison(
    run: ExplainedRun,
    tasks: readonly RunTask[],
    actor: Actor,
  ): Promise<Html | null> {
    const id = await this.overviews.lastSuccess(run.id, actor);
    if (id === null) return null;
    const rows = new Map((await this.overviews.complete([id, run.id])).map((row) => [row.id, row]));
    const [before, now] = [rows.get(id), rows.get(run.id)];
    if (!before || !now) return null;
    const names = await namesOfChanged(before, now, { database: this.database, actor });
    const earlier = await loadTasks(this.events, id);
    return comparisonView(compare(before, now, names, { before: earlier, now: tasks }), {
      open: run.status !== 'successful',
    });
  }
}

const MAX_SEARCH = 200;
const MAX_LINE_DIGITS = 9;

/** Returns the line number of the query, starting at 1; null without a valid number. */
const lineIn = (value: unknown): number | null =>
  typeof value === 'string' && /^[1-9]\d*$/.test(value) && value.length <= MAX_LINE_DIGITS
    ? Number(value)
    : null;
