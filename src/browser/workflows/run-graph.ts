import { type Actor } from '../../common/access.js';
import { html, type Html } from '../shared/html.js';
import { csrfInput } from '../shared/layout.js';
import { findResource, resource } from '../../common/resource/registry.js';
import {
  WorkflowJobNodesRepository,
  type NodeOnPage,
} from '../../workflows/workflow-job-nodes.repository.js';
import type { Edge } from '../../workflows/workflow-rows.service.js';
import type { ShownNode } from './graph-view.js';
import { labelOf } from '../../common/fields/label.js';

/**
 * Loads the nodes of a workflow job with the states of their runs, and its edges, with two
 * statements.
 */
export async function loadRunGraph(
  repository: WorkflowJobNodesRepository,
  workflowJobId: number,
  actor: Actor,
  csrf: string,
): Promise<{ nodes: ShownNode[]; edges: Edge[]; rows: readonly NodeOnPage[] }> {
  const rows = await repository.onPage(workflowJobId, actor);
  const edges = await repository.edges(workflowJobId);
  return { nodes: rows.map((row) => shownNode(row, csrf)), edges, rows };
}

function shownNode(row: NodeOnPage, csrf: string): ShownNode {
  const { id, identifier, run_id: runId, run_type: runType } = row;
  const run = row.may_read_run && runId !== null ? findResource(runType ?? '')?.url(runId) : null;
  return {
    id,
    name: (row.may_read_run ? row.run_name : null) ?? row.template_name ?? identifier,
    kind: kindOf(row.template_type),
    state: row.status ?? (row.outcome === '' ? 'not started' : row.outcome),
    url: run ?? resource('workflow_job_node').url(id),
    actions: row.may_decide && run ? decisionForms(run, csrf) : null,
  };
}

/** Returns the label of a template type: "Approval" for `workflow_approval_template`. */
export const kindOf = (templateType: string | null): string =>
  templateType === null
    ? 'Nothing to run'
    : labelOf(
        templateType.replace(/^workflow_approval_/, 'approval_').replace(/(?:_job)?_template$/, ''),
      );

/** Renders the approve and deny buttons of an approval. */
export const decisionForms = (url: string, csrf: string): Html =>
  html`<form method="post" action="${url}approve/">
      ${csrfInput(csrf)}<button class="button primary small">Approve</button>
    </form>
    <form method="post" action="${url}deny/">
      ${csrfInput(csrf)}<button class="button danger small">Deny</button>
    </form>`;
