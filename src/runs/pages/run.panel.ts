import { Injectable } from '@nestjs/common';
import { assetUrl } from '../../common/pages/assets.js';
import { html, type Html } from '../../common/pages/html.js';
import {
  PagePanel,
  type Panel,
  type PanelContext,
} from '../../common/pages/page-panels.service.js';
import { JobEventsRepository } from '../events/job-events.repository.js';
import { JobHostSummariesRepository } from '../events/job-host-summaries.repository.js';
import { RunsRepository } from '../runs.repository.js';
import { isFinal } from '../state-machine.js';
import { hostSummaries, loadHosts } from './host-summaries.js';
import { runActions, type ShownRun } from './run-actions.js';
import { loadTail, outputView } from './run-output.js';
import { loadTasks, taskTree } from './task-tree.js';

/** Output, hosts and buttons of a run; the script keeps them up to date while it is active. */
@Injectable()
@PagePanel('job', 'project_update')
export class RunPanel implements Panel<ShownRun> {
  constructor(
    private readonly runs: RunsRepository,
    private readonly events: JobEventsRepository,
    private readonly summaries: JobHostSummariesRepository,
  ) {}

  async render({ object: run, actor, csrf }: PanelContext<ShownRun>): Promise<Html> {
    const isActive = !isFinal(run.status);
    const tail = await loadTail(this.events, run.id);
    const hosts = run.type === 'job' ? await loadHosts(this.summaries, run.id) : [];
    const tasks = await loadTasks(this.events, run.id);
    const someFailed = hosts.some(({ failures, dark }) => failures + dark > 0);
    return html`<div id="run-actions" class="actions" data-refresh>
        ${await runActions(this.runs, run, { actor, csrf, isActive, someFailed })}
      </div>
      ${outputView(run, tail, isActive)}
      <div id="run-hosts" data-refresh>${hosts.length > 0 && hostSummaries(run.url, hosts)}</div>
      <div id="run-tasks" data-refresh>${taskTree(run.url, tasks)}</div>
      ${isActive && html`<script src="${assetUrl('live.js')}" defer></script>`}`;
  }
}
