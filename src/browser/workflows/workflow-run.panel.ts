import { Injectable } from '@nestjs/common';
import { assetUrl } from '../shared/assets.js';
import { html, type Html } from '../shared/html.js';
import { WebhookCauses } from '../shared/webhook-causes.service.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/panels.service.js';
import { runActions, type ShownRun } from '../runs/run-actions.js';
import { reloadHint } from '../runs/run-output.js';
import { runSummary } from '../runs/run-summary.js';
import { RunOutputsRepository } from '../../runs/output/run-outputs.repository.js';
import { RunsRepository } from '../../runs/runs.repository.js';
import { isFinal } from '../../runs/state-machine.js';
import {
  WorkflowJobNodesRepository,
  type NodeOnPage,
} from '../../workflows/workflow-job-nodes.repository.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { graphView } from './graph-view.js';
import { loadRunGraph } from './run-graph.js';
import {
  failedNodes,
  MAX_CAUSES,
  workflowCauseView,
  type FailedNode,
  type NodeRun,
} from './workflow-cause.js';

type ShownWorkflowRun = ShownRun & { job_explanation?: string };

/**
 * Renders a workflow job: the reason for a failure, and the graph with the states of the nodes. A
 * script updates the page while the workflow job is active.
 */
@Injectable()
@PagePanel('workflow_job')
export class WorkflowRunPanel implements Panel<ShownWorkflowRun> {
  readonly isFirst = true;

  constructor(
    private readonly runs: RunsRepository,
    private readonly nodes: WorkflowJobNodesRepository,
    private readonly outputs: RunOutputsRepository,
    private readonly settings: RuntimeSettings,
    private readonly causes: WebhookCauses,
  ) {}

  async render({ object: run, actor, csrf }: PanelContext<ShownWorkflowRun>): Promise<Html> {
    const isActive = !isFinal(run.status);
    const { UI_LIVE_UPDATES_ENABLED: isLive } = await this.settings.get('UI_LIVE_UPDATES_ENABLED');
    const hasLiveUpdates = isActive && isLive;
    const { nodes, edges, rows } = await loadRunGraph(this.nodes, run, actor, csrf);
    const failed = isActive ? [] : failedNodes(nodes, edges);
    const causes = await this.runsOf(failed.slice(0, MAX_CAUSES), rows);
    const stream = `${run.url}events/stream/`;
    return html`${await runSummary(run, this.causes)}
      <div id="run-actions" class="actions" data-refresh>
        ${await runActions(this.runs, run, { actor, csrf, isActive })}
      </div>
      <div id="run-cause" data-refresh>${workflowCauseView(run, failed, causes)}</div>
      <section aria-labelledby="graph-title" data-graph>
        <div class="line">
          <h2 id="graph-title">Graph</h2>
          <p role="status" data-live-status="${run.status}">
            ${isActive ? `The run is ${run.status}.` : `The run ended: ${run.status}.`}
          </p>
        </div>
        <div id="run-graph" data-refresh>${graphView(nodes, edges)}</div>
        ${isActive && reloadHint(hasLiveUpdates)}
      </section>
      ${
        hasLiveUpdates &&
        html`<script src="${assetUrl('live.js')}" data-live-graph="${stream}" defer></script>`
      }
      <script src="${assetUrl('graph.js')}" defer></script>`;
  }

  /** Loads the failures of the readable runs, by node id. */
  private async runsOf(
    failed: readonly FailedNode[],
    rows: readonly NodeOnPage[],
  ): Promise<Map<number, NodeRun>> {
    const found = new Map<number, NodeRun>();
    for (const { node } of failed) {
      const row = rows.find(({ id }) => id === node.id);
      if (!row?.may_read_run || row.run_id === null || node.url === null) continue;
      found.set(node.id, {
        url: node.url,
        events: `${node.url}${row.run_type === 'job' ? 'job_events' : 'events'}/`,
        explanation: row.explanation ?? '',
        failures: await this.outputs.failures(row.run_id, MAX_FAILURES),
      });
    }
    return found;
  }
}

/** Maximum number of failures of a node; the page of the run shows more. */
const MAX_FAILURES = 3;
