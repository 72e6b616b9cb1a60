import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/page-panels.service.js';
import { PanelSource } from '../shared/panel-source.service.js';
import { ReferenceLists } from '../../common/rest/reference-lists.service.js';
import { resource } from '../../common/resource/registry.js';
import type { Edge } from '../../workflows/workflow-rows.service.js';
import { graphView, type ShownNode } from '../workflows/graph-view.js';
import { kindOf } from '../workflows/run-graph.js';
import {
  WorkflowTemplateNodesRepository,
  type TemplateNodeOnPage,
} from '../../workflow-templates/workflow-template-nodes.repository.js';
import { buildingView } from './workflow-building.js';

interface ShownWorkflow {
  id: number;
  url: string;
}

/**
 * Renders the graph of a workflow job template, and the forms that change it if the caller may use
 * them.
 */
@Injectable()
@PagePanel('workflow_job_template')
export class WorkflowTemplatePanel implements Panel<ShownWorkflow> {
  readonly leads = true;

  constructor(
    private readonly nodes: WorkflowTemplateNodesRepository,
    private readonly source: PanelSource,
    private readonly references: ReferenceLists,
  ) {}

  async render(context: PanelContext<ShownWorkflow>): Promise<Html> {
    const { id, url } = context.object;
    const rows = await this.nodes.onPage(id, context.actor);
    const nodes = rows.map(shownNode);
    const edges = await this.nodes.edges(id);
    return html`<section aria-labelledby="graph-title" class="panel-card">
      <div class="line">
        <h2 id="graph-title">Graph</h2>
        <a class="button small" href="${url}workflow_nodes/">Nodes</a>
      </div>
      ${graphView(nodes, edges)} ${await this.building(context, rows, { nodes, edges })}
    </section>`;
  }

  private async building(
    { object: { url }, actor, csrf, presets }: PanelContext<ShownWorkflow>,
    rows: readonly TemplateNodeOnPage[],
    graph: { nodes: readonly ShownNode[]; edges: readonly Edge[] },
  ): Promise<Html | null> {
    const { body: mayBuild } = await this.source.opens('POST', `${url}workflow_nodes/`, actor);
    if (!mayBuild) return null;
    const target = resource('unified_job_template');
    return buildingView({
      ...graph,
      url,
      csrf,
      idle: new Set(rows.filter(({ type }) => type === null).map(({ id }) => id)),
      templates: await this.references.load(target, 'launch', [], actor),
      after: Number(presets.after ?? 0),
    });
  }
}

const shownNode = ({ id, identifier, name, type }: TemplateNodeOnPage): ShownNode => ({
  id,
  name: name ?? (type === null && IDLE.test(identifier) ? 'Not said yet' : identifier),
  kind: kindOf(type),
  state: null,
  url: resource('workflow_job_template_node').url(id),
});

/** Pattern of a generated node identifier. */
const IDLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
