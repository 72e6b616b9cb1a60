import { Injectable } from '@nestjs/common';
import { assetUrl } from '../../common/pages/assets.js';
import { html, type Html } from '../../common/pages/html.js';
import {
  PagePanel,
  type Panel,
  type PanelContext,
} from '../../common/pages/page-panels.service.js';
import { runActions, type ShownRun } from '../../runs/pages/run-actions.js';
import { RunsRepository } from '../../runs/runs.repository.js';
import { isFinal } from '../../runs/state-machine.js';
import { WorkflowJobNodesRepository } from '../workflow-job-nodes.repository.js';
import { graphView } from './graph-view.js';
import { loadRunGraph } from './run-graph.js';

/** The graph of a workflow job with the states of its nodes; the script keeps it up to date. */
@Injectable()
@PagePanel('workflow_job')
export class WorkflowRunPanel implements Panel<ShownRun> {
  constructor(
    private readonly runs: RunsRepository,
    private readonly nodes: WorkflowJobNodesRepository,
  ) {}

  async render({ object: run, actor, csrf }: PanelContext<ShownRun>): Promise<Html> {
    const isActive = !isFinal(run.status);
    const { nodes, edges } = await loadRunGraph(this.nodes, run.id, actor, csrf);
    const stream = `${run.url}events/stream/`;
    return html`<div id="run-actions" class="actions" data-refresh>
        ${await runActions(this.runs, run, { actor, csrf, isActive })}
      </div>
      <section aria-labelledby="graph-title">
        <div class="line">
          <h2 id="graph-title">Graph</h2>
          <p role="status" data-live-status>
            ${isActive ? `The run is ${run.status}.` : `The run ended: ${run.status}.`}
          </p>
        </div>
        <div id="run-graph" data-refresh>${graphView(nodes, edges)}</div>
        ${isActive && html`<p class="hint plain-only">Load this page again to see what came since.</p>`}
      </section>
      ${
        isActive &&
        html`<script src="${assetUrl('live.js')}" data-live-graph="${stream}" defer></script>`
      }`;
  }
}
