import { Injectable } from '@nestjs/common';
import { html, type Html } from '../../common/pages/html.js';
import {
  PagePanel,
  type Panel,
  type PanelContext,
} from '../../common/pages/page-panels.service.js';
import { resource } from '../../common/resource/registry.js';
import { graphView, type ShownNode } from '../../workflows/pages/graph-view.js';
import { kindOf } from '../../workflows/pages/run-graph.js';
import {
  WorkflowTemplateNodesRepository,
  type TemplateNodeOnPage,
} from '../workflow-template-nodes.repository.js';

interface ShownWorkflow {
  id: number;
  url: string;
}

/** The graph of a workflow job template: what a launch would run, and what follows what. */
@Injectable()
@PagePanel('workflow_job_template')
export class WorkflowTemplatePanel implements Panel<ShownWorkflow> {
  constructor(private readonly nodes: WorkflowTemplateNodesRepository) {}

  async render({ object, actor }: PanelContext<ShownWorkflow>): Promise<Html> {
    const { id, url } = object;
    const nodes = (await this.nodes.onPage(id, actor)).map(shownNode);
    const edges = await this.nodes.edges(id);
    return html`<section aria-labelledby="graph-title">
      <div class="line">
        <h2 id="graph-title">Graph</h2>
        <a class="button small" href="${url}workflow_nodes/">Nodes</a>
      </div>
      ${graphView(nodes, edges)}
    </section>`;
  }
}

const shownNode = ({ id, identifier, name, type }: TemplateNodeOnPage): ShownNode => ({
  id,
  name: name ?? identifier,
  kind: kindOf(type),
  state: null,
  url: resource('workflow_job_template_node').url(id),
});
