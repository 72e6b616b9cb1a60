import { entryOf } from '../../common/invariants.js';
import type { GraphNode } from '../../workflows/workflow-graphs.repository.js';
import type { NodeOutcome } from '../../workflows/workflow-job-node.entity.js';
import type { EdgeKind } from '../../workflows/workflow-rows.service.js';
import { partsBySize, ROW_BYTES } from '../../common/parts.js';
import { append } from '../../common/records.js';

/** A running workflow job. */
export interface WorkflowGraph {
  isCanceled: boolean;
  nodes: readonly GraphNode[];
}

/** The next steps of a workflow job. */
export interface Decision {
  /** Nodes to start, in the order of the nodes. */
  start: GraphNode[];
  /** Nodes that end without a run. */
  ended: Map<number, 'missing' | 'skipped'>;
  /** End of the workflow job; null while it is active. */
  end: { status: 'successful' | 'failed' | 'canceled'; explanation: string } | null;
}

const UNHANDLED = 'No error handling paths found, marking workflow as failed';
/** Maximum number of nodes that an explanation names; the others are counted. */
const MAX_NAMED = 20;
/**
 * Size that each parent counts, in bytes, so that nodes that start together have at most 50 parents. Each parent
 * passes on up to three megabytes of artifacts, and a statement has a time limit.
 */
const PARENT_BYTES = 160_000;

/**
 * Decides which nodes start, which nodes are skipped, and whether the workflow job is finished
 * (docs/contract/workflows.md#how-a-workflow-goes-on). A node is decided after its parents have ended, or
 * skipped earlier if no later end could start it, so the order in which runs end does not matter.
 */
export function decide({ isCanceled, nodes }: WorkflowGraph): Decision {
  const outcomes = new Map(nodes.map(({ id, outcome }) => [id, outcome]));
  const childrenOf = childrenByParent(nodes);
  const start = new Set<number>();
  const ended: Decision['ended'] = new Map();
  const undecided = [...nodes];
  for (let node = undecided.pop(); node; node = undecided.pop()) {
    const { id } = node;
    if (node.hasStarted || start.has(id) || outcomes.get(id) !== '') continue;
    const action = isCanceled ? 'skip' : actionOf(node, outcomes);
    if (action === 'wait') continue;
    if (action === 'start' && node.canStart) {
      start.add(id);
      continue;
    }
    const outcome = action === 'start' ? 'missing' : 'skipped';
    ended.set(id, outcome);
    outcomes.set(id, outcome);
    undecided.push(...(childrenOf.get(id) ?? []));
  }
  const isActive =
    start.size > 0 || nodes.some(({ id, hasStarted }) => hasStarted && outcomes.get(id) === '');
  return {
    start: nodes.filter(({ id }) => start.has(id)),
    ended,
    end: isActive ? null : endOf(nodes, outcomes, isCanceled),
  };
}

/** Divides nodes into parts that start together; a part has at least one node. */
export const startParts = (nodes: readonly GraphNode[]): GraphNode[][] =>
  partsBySize(
    nodes,
    ({ size }) => size + ROW_BYTES,
    ({ parents }) => parents.length * PARENT_BYTES,
  );

function childrenByParent(nodes: readonly GraphNode[]): Map<number, GraphNode[]> {
  const children = new Map<number, GraphNode[]>();
  for (const node of nodes) {
    for (const { id } of node.parents) append(children, id, node);
  }
  return children;
}

type Outcomes = ReadonlyMap<number, NodeOutcome | ''>;

function actionOf(
  { parents, mustConverge }: GraphNode,
  outcomes: Outcomes,
): 'start' | 'skip' | 'wait' {
  const ended = parents.filter(({ id }) => outcomes.get(id) !== '');
  const matching = ended.filter(({ id, kind }) => matches(kind, entryOf(outcomes, id)));
  // One edge that does not match is decisive, independent of the remaining parents.
  if (mustConverge && matching.length < ended.length) return 'skip';
  if (ended.length < parents.length) return 'wait';
  return parents.length === 0 || matching.length > 0 ? 'start' : 'skip';
}

/** Returns true if a parent with this outcome starts its child over an edge of this kind. */
function matches(kind: EdgeKind, outcome: NodeOutcome | ''): boolean {
  if (outcome === 'skipped') return false;
  return kind === 'always' || (kind === 'success') === (outcome === 'successful');
}

function endOf(
  nodes: readonly GraphNode[],
  outcomes: Outcomes,
  isCanceled: boolean,
): NonNullable<Decision['end']> {
  const missing = nodes.filter(({ id }) => outcomes.get(id) === 'missing');
  const explanations =
    missing.length === 0 ? [] : [`The template cannot be run or is missing: ${named(missing)}.`];
  if (isCanceled) return { status: 'canceled', explanation: explanations.join(' ') };
  const handled = new Set(
    nodes.flatMap(({ parents }) =>
      parents.filter(({ kind }) => kind !== 'success').map(({ id }) => id),
    ),
  );
  const unhandled = nodes.filter(
    ({ id }) => !handled.has(id) && !['successful', 'skipped'].includes(entryOf(outcomes, id)),
  );
  if (unhandled.length === 0) return { status: 'successful', explanation: explanations.join(' ') };
  return {
    status: 'failed',
    explanation: [`${UNHANDLED}: ${named(unhandled)}`, ...explanations].join('. '),
  };
}

function named(nodes: readonly GraphNode[]): string {
  const names = nodes.slice(0, MAX_NAMED).map(({ identifier }) => identifier);
  const more = nodes.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
