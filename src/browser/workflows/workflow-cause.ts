import { labelOf } from '../../common/fields/label.js';
import { html, type Html, type HtmlValue } from '../shared/html.js';
import { statusBadge } from '../shared/value-views.js';
import type { RunFailure } from '../../runs/output/run-outputs.repository.js';
import { explanations, UNSUCCESSFUL, failureList } from '../runs/run-cause.js';
import type { Edge } from '../../workflows/workflow-rows.service.js';
import { EDGE_TEXTS, type ShownNode } from './graph-view.js';

/** Maximum number of failed nodes with details; the graph is complete. */
export const MAX_CAUSES = 5;

/** A failed node, and the path of the workflow to the node. */
export interface FailedNode {
  node: ShownNode;
  /** Steps from the first node, each with the condition of the next step. */
  path: readonly Step[];
  /** Nodes that the workflow ran after the failure; empty if the workflow ended there. */
  next: readonly ShownNode[];
}

interface Step {
  node: ShownNode;
  /** Condition of the next step. */
  kind: Edge['kind'];
}

export interface NodeRun {
  url: string;
  events: string;
  explanation: string;
  failures: readonly RunFailure[];
}

/** Returns the failed nodes; nodes that ended the workflow come first. */
export function failedNodes(nodes: readonly ShownNode[], edges: readonly Edge[]): FailedNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return nodes
    .filter(({ state }) => UNSUCCESSFUL.has(state ?? ''))
    .map((node) => ({
      node,
      path: pathTo(node, byId, edges),
      next: edges
        .filter((edge) => edge.from === node.id && isTaken(edge, byId))
        .flatMap(({ to }) => byId.get(to) ?? [])
        .filter(hasRun),
    }))
    .sort((a, b) => Math.min(a.next.length, 1) - Math.min(b.next.length, 1));
}

type ById = ReadonlyMap<number, ShownNode>;

const hasRun = ({ state }: ShownNode): boolean => state !== 'not started' && state !== 'skipped';

/** Returns true if the final state of the source node satisfies the condition of the edge. */
function isTaken({ from, kind }: Edge, byId: ById): boolean {
  const state = byId.get(from)?.state ?? '';
  if (kind === 'success') return state === 'successful';
  if (kind === 'failure') return UNSUCCESSFUL.has(state);
  return state === 'successful' || UNSUCCESSFUL.has(state);
}

/** Returns the path of the workflow to a node; follows the first satisfied edge of each node. */
function pathTo(node: ShownNode, byId: ById, edges: readonly Edge[]): Step[] {
  const path: Step[] = [];
  const seen = new Set([node.id]);
  let reached = node.id;
  for (;;) {
    const edge = edges.find((candidate) => candidate.to === reached && isTaken(candidate, byId));
    const previous = edge && byId.get(edge.from);
    if (!edge || !previous || seen.has(previous.id)) return path;
    path.unshift({ node: previous, kind: edge.kind });
    seen.add(previous.id);
    reached = previous.id;
  }
}

/**
 * Renders the reason why a workflow job failed or was canceled: the failed nodes, the paths to them, and
 * the errors of their runs; null for other statuses.
 *
 * @param runs runs by node id; omits runs that the caller may not read
 */
export function workflowCauseView(
  { status, job_explanation: explanation = '' }: { status: string; job_explanation?: string },
  failed: readonly FailedNode[],
  runs: ReadonlyMap<number, NodeRun>,
): Html | null {
  if (!UNSUCCESSFUL.has(status)) return null;
  const others = failed.length - MAX_CAUSES;
  return html`<section class="message error cause" aria-labelledby="cause-title">
    <h2 id="cause-title">${headline(status, failed)}</h2>
    ${explanation !== '' && html`<p>${explanation}</p>`}
    ${failed.slice(0, MAX_CAUSES).map((failure) => nodeCause(failure, runs.get(failure.node.id)))}
    ${others > 0 && html`<p>${others === 1 ? 'One more node' : `${others} more nodes`} failed.</p>`}
  </section>`;
}

function headline(status: string, failed: readonly FailedNode[]): string {
  if (status === 'canceled') return 'The workflow was canceled';
  const ended = failed.filter(({ next }) => next.length === 0);
  const [first] = ended.length > 0 ? ended : failed;
  return first ? `The workflow failed at ${first.node.name}` : 'The workflow failed';
}

function nodeCause({ node, path, next }: FailedNode, run: NodeRun | undefined): Html {
  const steps: HtmlValue[] = path.map(
    (step) =>
      html`<a href="${step.node.url ?? '#'}">${step.node.name}</a>
        <small>${labelOf(step.node.state ?? '')}, ${EDGE_TEXTS[step.kind]}</small> → `,
  );
  return html`<div class="node-cause">
    <p>
      ${steps}<a href="${node.url ?? '#'}"><strong>${node.name}</strong></a>
      ${statusBadge(node.state ?? '')} <small>${node.kind}</small>
    </p>
    ${run && explanations(run.explanation)}
    ${run && run.failures.length > 0 && failureList(run.url, run.failures, run.events)}
    ${
      next.length > 0 &&
      html`<p class="hint">
        The workflow continued with ${next.map(({ name }) => name).join(', ')}.
      </p>`
    }
  </div>`;
}
