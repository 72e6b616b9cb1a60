import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../../common/access.js';
import { html, type Html } from '../../common/pages/html.js';
import { PagePanel, type Panel, type PanelContext } from '../../common/pages/panels.js';
import { resource } from '../../common/resource/registry.js';
import { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import type { Edge } from '../../workflows/pages/graph-layout.js';
import { graphView, type ShownNode } from '../../workflows/pages/graph-view.js';
import { kindOf } from '../../workflows/pages/run-graph.js';

interface NodeRow extends Record<string, unknown> {
  id: number;
  identifier: string;
  type: string | null;
  name: string | null;
}

interface ShownWorkflow {
  id: number;
  url: string;
}

/** The graph of a workflow job template: what a launch would run, and what follows what. */
@Injectable()
@PagePanel('workflow_job_template')
export class WorkflowTemplatePanel implements Panel<ShownWorkflow> {
  constructor(private readonly database: Database) {}

  async render({ object, actor }: PanelContext<ShownWorkflow>): Promise<Html> {
    const { id, url } = object;
    const nodes = await this.nodes(id, actor);
    const edges = await this.edges(id);
    return html`<section aria-labelledby="graph-title">
      <div class="line">
        <h2 id="graph-title">Graph</h2>
        <a class="button small" href="${url}workflow_nodes/">Nodes</a>
      </div>
      ${graphView(nodes, edges)}
    </section>`;
  }

  private async nodes(id: number, actor: Actor): Promise<ShownNode[]> {
    const rows = await this.database.rows<NodeRow>(sql`
      SELECT node.id, node.identifier, tpl.type,
        CASE WHEN ${permit(resource('unified_job_template').policy, 'read', 'tpl', actor)}
          THEN tpl.name END AS name
      FROM workflow_job_template_nodes node
      LEFT JOIN unified_job_templates tpl ON tpl.id = node.unified_job_template_id
      WHERE node.workflow_job_template_id = ${id} ORDER BY node.id`);
    return rows.map((row) => ({
      id: row.id,
      name: row.name ?? row.identifier,
      kind: kindOf(row.type),
      state: null,
      url: resource('workflow_job_template_node').url(row.id),
    }));
  }

  private edges(id: number): Promise<Edge[]> {
    return this.database.rows<Edge & Record<string, unknown>>(sql`
      SELECT edge.parent_id AS "from", edge.child_id AS "to", edge.kind
      FROM workflow_job_template_node_edges edge
      JOIN workflow_job_template_nodes node ON node.id = edge.child_id
      WHERE node.workflow_job_template_id = ${id} ORDER BY edge.parent_id, edge.child_id`);
  }
}
