import fc from 'fast-check';
import {
  endOf,
  workflows,
  type Ending,
  type PlannedNode,
} from '../../../test/support/workflow-model.js';
import { itemAt } from '../../common/invariants.js';
import { decide, startParts, type Decision, type WorkflowGraph } from './workflow-graph.js';
import type { GraphNode } from '../../workflows/workflow-graphs.repository.js';
import type { EdgeKind } from '../../workflows/workflow-rows.service.js';

const WITHOUT_RUN: readonly unknown[] = ['missing', 'skipped'];

/** Simulation of a workflow: executes the decisions, and ends the runs in any order. */
class Play {
  readonly graph: WorkflowGraph;

  constructor(private readonly plan: readonly PlannedNode[]) {
    const nodes = plan.map(({ ending, mustConverge, parents }, place) => ({
      id: place + 1,
      identifier: `n${place}`,
      outcome: '' as const,
      hasStarted: false,
      canStart: ending !== 'missing',
      mustConverge,
      parents: parents.map((edge) => ({ id: edge.place + 1, kind: edge.kind })),
      size: 0,
    }));
    this.graph = { isCanceled: false, nodes };
  }

  /** Executes the next decision. Each node can start once and end once. */
  step(): Decision {
    const decision = decide(this.graph);
    for (const { id } of decision.start) {
      const node = this.node(id);
      if (node.hasStarted || node.outcome !== '') throw new Error(`${id} starts again`);
      node.hasStarted = true;
    }
    for (const [id, outcome] of decision.ended) {
      const node = this.node(id);
      if (node.hasStarted || node.outcome !== '') throw new Error(`${id} ends again`);
      node.outcome = outcome;
    }
    return decision;
  }

  /** Ends one of the active runs. */
  endOne(choice: number, as?: Ending): void {
    const active = this.active();
    const node = itemAt(active, choice % active.length);
    const { ending } = itemAt(this.plan, node.id - 1);
    node.outcome = as ?? (ending === 'missing' ? 'failed' : ending);
  }

  active(): GraphNode[] {
    return this.graph.nodes.filter(({ hasStarted, outcome }) => hasStarted && outcome === '');
  }

  outcomes(): string[] {
    return this.graph.nodes.map(({ outcome }) => outcome);
  }

  private node(id: number): GraphNode {
    return itemAt(this.graph.nodes, id - 1);
  }
}

/** Indexes of the runs that end next, more than any workflow has runs. */
const choices = fc.array(fc.nat(), { minLength: 16, maxLength: 16 });

it('the engine ends every workflow as the rules require, in any order of the runs', () => {
  fc.assert(
    fc.property(workflows(12), choices, (plan, order) => {
      const play = new Play(plan);
      let decision = play.step();
      for (const choice of order) {
        if (decision.end) break;
        play.endOne(choice);
        decision = play.step();
      }
      const expected = endOf(plan);
      expect(play.outcomes()).toEqual(expected.outcomes);
      expect(decision.end?.status).toBe(expected.status);
    }),
    { numRuns: 3000 },
  );
});

it('the engine starts no nodes after a cancellation, and ends with the last run', () => {
  fc.assert(
    fc.property(workflows(12), choices, fc.nat(11), (plan, order, cancelAt) => {
      const play = new Play(plan);
      let decision = play.step();
      for (const choice of order.slice(0, cancelAt)) {
        if (decision.end) return;
        play.endOne(choice);
        decision = play.step();
      }
      if (decision.end) return;
      const running = play.active().map(({ id }) => id);
      play.graph.isCanceled = true;
      decision = play.step();
      expect(play.active().map(({ id }) => id)).toEqual(running);
      for (const choice of order.slice(0, running.length)) {
        expect(decision.end).toBeNull();
        play.endOne(choice, 'canceled');
        decision = play.step();
        expect(decision.start).toEqual([]);
      }
      expect(decision.end?.status).toBe('canceled');
      expect(play.outcomes()).not.toContain('');
      for (const { outcome, hasStarted } of play.graph.nodes) {
        expect(WITHOUT_RUN.includes(outcome)).toBe(!hasStarted);
      }
    }),
    { numRuns: 2000 },
  );
});

const node = (id: number, fields: Partial<GraphNode> = {}): GraphNode => ({
  id,
  identifier: `n${id}`,
  outcome: '',
  hasStarted: false,
  canStart: true,
  mustConverge: false,
  parents: [],
  size: 0,
  ...fields,
});
const ended = (id: number, outcome: GraphNode['outcome']): GraphNode =>
  node(id, { outcome, hasStarted: !WITHOUT_RUN.includes(outcome) });
const after = (...parents: [id: number, kind: EdgeKind][]) => ({
  parents: parents.map(([id, kind]) => ({ id, kind })),
});
const next = (...nodes: GraphNode[]): Decision => decide({ isCanceled: false, nodes });

it.each([
  ['success', 'successful', true],
  ['success', 'failed', false],
  ['failure', 'failed', true],
  ['failure', 'error', true],
  ['failure', 'canceled', true],
  ['failure', 'missing', true],
  ['failure', 'successful', false],
  ['always', 'successful', true],
  ['always', 'canceled', true],
  ['always', 'skipped', false],
] as const)('the engine applies a %s edge from a node that is %s: %s', (kind, outcome, starts) => {
  for (const mustConverge of [false, true]) {
    const { start } = next(ended(1, outcome), node(2, { mustConverge, ...after([1, kind]) }));
    expect(start).toMatchObject(starts ? [{ id: 2 }] : []);
  }
});

it('the engine waits for all parents, even if one matching edge is sufficient', () => {
  const child = node(3, after([1, 'success'], [2, 'success']));
  const waiting = next(ended(1, 'successful'), node(2, { hasStarted: true }), child);
  expect(waiting).toEqual({ start: [], ended: new Map(), end: null });
  expect(next(ended(1, 'successful'), ended(2, 'failed'), child).start).toEqual([child]);
});

it('the engine skips a node that requires all edges at the first edge that does not match', () => {
  const child = node(3, { mustConverge: true, ...after([1, 'success'], [2, 'success']) });
  const decision = next(ended(1, 'canceled'), node(2, { hasStarted: true }), child);
  expect(decision.ended).toEqual(new Map([[3, 'skipped']]));
});

it('the engine follows the failure edges of a node whose template was deleted', () => {
  const child = node(2, after([1, 'failure']));
  const decision = next(node(1, { canStart: false }), child);
  expect(decision).toEqual({ start: [child], ended: new Map([[1, 'missing']]), end: null });
});

it('the engine names failed nodes without a failure edge', () => {
  const { end } = next(ended(1, 'failed'), ended(2, 'error'), node(3, after([2, 'success'])));
  expect(end).toEqual({
    status: 'failed',
    explanation: 'No error handling paths found, marking workflow as failed: n1, n2',
  });
});

it('the engine names missing templates even if the workflow succeeds', () => {
  const { end } = next(node(1, { canStart: false }), {
    ...ended(2, 'successful'),
    ...after([1, 'always']),
  });
  expect(end).toEqual({
    status: 'successful',
    explanation: 'The template cannot be run or is missing: n1.',
  });
});

it('the engine counts the nodes that it does not name', () => {
  const nodes = Array.from({ length: 25 }, (_, index) => ended(index + 1, 'failed'));
  expect(next(...nodes).end?.explanation).toMatch(/n19, n20 and 5 more$/);
});

it('the engine ends a workflow without nodes', () => {
  expect(next().end).toEqual({ status: 'successful', explanation: '' });
});

it('nodes with many parents or large variables start in parts, and others together', () => {
  const parents = (count: number) =>
    after(...Array.from({ length: count }, (_, id): [number, EdgeKind] => [id, 'success']));
  const sizesOf = (counts: readonly number[], size = 0): number[] =>
    startParts(counts.map((count, id) => node(id, { ...parents(count), size }))).map(
      ({ length }) => length,
    );
  expect(sizesOf([])).toEqual([]);
  expect(sizesOf(Array.from({ length: 1000 }, () => 0))).toEqual([1000]);
  expect(sizesOf(Array.from({ length: 120 }, () => 1))).toEqual([50, 50, 20]);
  expect(sizesOf([70, 0, 1, 49, 1])).toEqual([1, 3, 1]);
  expect(sizesOf([0, 0, 0, 0, 0], 3_000_000)).toEqual([2, 2, 1]);
  expect(sizesOf(Array.from({ length: 20_000 }, () => 0))).toEqual([8000, 8000, 4000]);
  expect(sizesOf([0, 0], 9_000_000)).toEqual([1, 1]);
});
