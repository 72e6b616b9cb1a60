import { type Actor } from '../../common/access.js';
import type { HtmlValue } from '../shared/html.js';
import { panelButton } from '../shared/panel-forms.js';
import { GENERATED } from '../shared/value-views.js';
import { findResource, resource } from '../../common/resource/define-resource.js';
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
  { id, url }: { id: number; url: string },
  actor: Actor,
  csrf: string,
): Promise<{ nodes: ShownNode[]; edges: Edge[]; rows: readonly NodeOnPage[] }> {
  const rows = await repository.onPage(id, actor);
  const edges = await repository.edges(id);
  return { nodes: rows.map((row) => shownNode(row, csrf, url)), edges, rows };
}

function shownNode(row: NodeOnPage, csrf: string, returnTo: string): ShownNode {
  const { id, identifier, run_id: runId, run_type: runType } = row;
  const run = row.may_read_run && runId !== null ? findResource(runType ?? '')?.url(runId) : null;
  return {
    id,
    name: GENERATED.test(identifier)
      ? ((row.may_read_run ? row.run_name : null) ?? row.template_name ?? identifier)
      : identifier,
    kind: kindOf(row.template_type),
    state: row.status ?? (row.outcome === '' ? 'not started' : row.outcome),
    url: run ?? resource('workflow_job_node').url(id),
    actions: row.may_decide && run ? decisionForms(run, csrf, returnTo) : null,
  };
}

/** Returns the label of a template type, such as "Approval"; "No template" for null. */
export const kindOf = (templateType: string | null): string =>
  templateType === null
    ? 'No template'
    : labelOf(
        templateType.replace(/^workflow_approval_/, 'approval_').replace(/(?:_job)?_template$/, ''),
      );

/** Renders the approve and deny buttons of an approval, which return to a page. */
export const decisionForms = (url: string, csrf: string, returnTo: string): HtmlValue => [
  panelButton({ action: `${url}approve/`, csrf, returnTo }, 'Approve', 'primary small'),
  panelButton({ action: `${url}deny/`, csrf, returnTo }, 'Deny', 'danger small'),
];
