import { permit, type Actor } from '../../common/access.js';
import { html, words, type Html } from '../../common/pages/html.js';
import { csrfInput } from '../../common/pages/layout.js';
import { findResource, resource } from '../../common/resource/registry.js';
import type { Database } from '../../database/database.js';
import { sql } from '../../database/sql.js';
import type { Edge } from './graph-layout.js';
import type { ShownNode } from './graph-view.js';

interface NodeRow extends Record<string, unknown> {
  id: number;
  identifier: string;
  outcome: string;
  template_type: string | null;
  template_name: string | null;
  run_id: number | null;
  run_type: string | null;
  run_name: string | null;
  status: string | null;
  may_read_run: boolean;
  may_decide: boolean;
}

/** The nodes of a workflow job with the states of their runs, and its edges: two statements. */
export async function loadRunGraph(
  database: Database,
  workflowJobId: number,
  actor: Actor,
  csrf: string,
): Promise<{ nodes: ShownNode[]; edges: Edge[] }> {
  const rows = await database.rows<NodeRow>(sql`
    SELECT node.id, node.identifier, node.outcome, tpl.type AS template_type,
      CASE WHEN ${permit(resource('unified_job_template').policy, 'read', 'tpl', actor)}
        THEN tpl.name END AS template_name,
      run.id AS run_id, run.type AS run_type, run.name AS run_name, run.status,
      coalesce(${permit(resource('unified_job').policy, 'read', 'run', actor)}, false)
        AS may_read_run,
      coalesce(run.type = 'workflow_approval' AND run.status = 'pending'
        AND ${permit(resource('workflow_approval').policy, 'approve', 'run', actor)}, false)
        AS may_decide
    FROM workflow_job_nodes node
    LEFT JOIN unified_job_templates tpl ON tpl.id = node.unified_job_template_id
    LEFT JOIN unified_jobs run ON run.id = node.job_id
    WHERE node.workflow_job_id = ${workflowJobId} ORDER BY node.id`);
  const edges = await database.rows<Edge & Record<string, unknown>>(sql`
    SELECT edge.parent_id AS "from", edge.child_id AS "to", edge.kind
    FROM workflow_job_node_edges edge JOIN workflow_job_nodes node ON node.id = edge.child_id
    WHERE node.workflow_job_id = ${workflowJobId} ORDER BY edge.parent_id, edge.child_id`);
  return { nodes: rows.map((row) => shownNode(row, csrf)), edges };
}

function shownNode(row: NodeRow, csrf: string): ShownNode {
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

/** `workflow_approval_template` as people say it: "Approval". */
export const kindOf = (templateType: string | null): string =>
  templateType === null
    ? 'Nothing to run'
    : words(
        templateType.replace(/^workflow_approval_/, 'approval_').replace(/(?:_job)?_template$/, ''),
      );

/** Approve and deny, as the forms of one approval. */
export const decisionForms = (url: string, csrf: string): Html =>
  html`<form method="post" action="${url}approve/">
      ${csrfInput(csrf)}<button class="button primary small">Approve</button>
    </form>
    <form method="post" action="${url}deny/">
      ${csrfInput(csrf)}<button class="button danger small">Deny</button>
    </form>`;
