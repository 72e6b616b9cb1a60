import { Injectable } from '@nestjs/common';
import { assetUrl } from '../shared/assets.js';
import { html, type Html, type HtmlValue } from '../shared/html.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { PageSections } from '../shared/page-sections.service.js';
import { GENERATED } from '../shared/value-views.js';
import { keysOf, memberOf } from '../../common/records.js';
import { ReferenceLists } from '../../common/rest/reference-lists.service.js';
import { resource } from '../../common/resource/define-resource.js';
import { EDGE_TEXTS, graphView, type ShownNode } from '../workflows/graph-view.js';
import { kindOf } from '../workflows/run-graph.js';
import {
  WorkflowJobTemplateNodesRepository,
  type TemplateNodeOnPage,
} from '../../workflow-templates/workflow-job-template-nodes.repository.js';
import { buildingView, selectionUrl, withConnections } from './workflow-building.js';

interface ShownWorkflow {
  id: number;
  url: string;
}

/**
 * Renders the graph of a workflow job template, and the forms that change the selected node if the
 * caller may use them.
 */
@Injectable()
@PagePanel('workflow_job_template')
export class WorkflowTemplatePanel implements Panel<ShownWorkflow> {
  readonly isFirst = true;

  constructor(
    private readonly nodes: WorkflowJobTemplateNodesRepository,
    private readonly source: PanelSource,
    private readonly references: ReferenceLists,
    private readonly sections: PageSections,
  ) {}

  async render(context: PanelContext<ShownWorkflow>): Promise<Html> {
    const { actor, csrf, initialValues } = context;
    const { id, url } = context.object;
    const rows = await this.nodes.onPage(id, actor);
    const { body: mayBuild } = await this.source.openParts(`${url}workflow_nodes/`, actor);
    const all = rows.map((row) => shownNode(row, mayBuild ? url : null));
    const chosen = all.find((node) => String(node.id) === initialValues.node);
    const selected = mayBuild ? (chosen ?? all.at(-1)) : undefined;
    const nodes = all.map((node) => ({ ...node, isSelected: node === selected }));
    const newLinkKind = keysOf(EDGE_TEXTS).find((kind) => kind === initialValues.connect);
    const edges = await this.nodes.edges(id);
    const parts = { url, csrf, nodes, edges, selected, newLinkKind };
    return html`<section id="graph" aria-labelledby="graph-title" class="panel-card" data-graph>
      <div class="line">
        <h2 id="graph-title">Graph</h2>
        <a class="button small" href="${url}workflow_nodes/">Nodes</a>
      </div>
      ${graphView(withConnections(parts), edges)}
      ${
        mayBuild &&
        buildingView({
          ...parts,
          hasNoTemplate: rows.some((row) => row.id === selected?.id && row.type === null),
          templates: await this.references.load(
            resource('unified_job_template'),
            'launch',
            [],
            actor,
          ),
          change: selected && (await this.changeOf(selected, context, chosen !== undefined)),
        })
      }
      <script src="${assetUrl('graph.js')}" defer></script>
    </section>`;
  }

  /**
   * Renders the forms of a node, and of its approval.
   *
   * @param isOpen true to expand the forms
   */
  private async changeOf(
    { id }: ShownNode,
    context: PanelContext<ShownWorkflow>,
    isOpen: boolean,
  ): Promise<HtmlValue> {
    const { actor, object: workflow } = context;
    const node = await this.source.object(resource('workflow_job_template_node'), id, actor);
    const url = memberOf(node.related, 'unified_job_template');
    const isApproval = typeof url === 'string' && url.includes(APPROVALS);
    const approval =
      isApproval &&
      (await this.source.object(
        resource('workflow_approval_template'),
        Number(node.unified_job_template),
        actor,
      ));
    const embedded = { ...context, returnTo: selectionUrl(workflow.url, id), isOpen };
    return [
      await this.sections.changeForm('step', node, embedded),
      approval && (await this.sections.changeForm('approval', approval, embedded)),
    ];
  }
}

const APPROVALS = '/workflow_approval_templates/';

/** @param workflowUrl page to link to, with the node selected; null to link to the page of the node */
const shownNode = (row: TemplateNodeOnPage, workflowUrl: string | null): ShownNode => ({
  id: row.id,
  name: nameOf(row),
  kind: kindOf(row.type),
  state: null,
  url:
    workflowUrl === null
      ? resource('workflow_job_template_node').url(row.id)
      : `${selectionUrl(workflowUrl, row.id)}#graph`,
});

const nameOf = ({ id, identifier, name, type }: TemplateNodeOnPage): string => {
  if (!GENERATED.test(identifier)) return identifier;
  return name ?? (type === null ? 'No template' : `${kindOf(type)} ${id}`);
};
