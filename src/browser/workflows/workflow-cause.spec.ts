import type { Edge } from '../../workflows/workflow-rows.service.js';
import type { ShownNode } from './graph-view.js';
import { failedNodes, workflowCauseView } from './workflow-cause.js';

const node = (id: number, state: string): ShownNode => ({
  id,
  name: `n${id}`,
  kind: 'Job',
  state,
  url: `/api/v2/jobs/${id}/`,
});
const edge = (from: number, kind: Edge['kind'], to: number): Edge => ({ from, to, kind });
const summaryOf = (nodes: readonly ShownNode[], edges: readonly Edge[]) =>
  failedNodes(nodes, edges).map((failure) => ({
    node: failure.node.id,
    path: failure.path.map((step) => `${step.node.id} ${step.kind}`),
    next: failure.next.map(({ id }) => id),
  }));

describe('the cause of a failed workflow', () => {
  it('shows only the path that was taken', () => {
    const nodes = [node(1, 'successful'), node(2, 'failed'), node(3, 'skipped'), node(4, 'failed')];
    const edges = [edge(3, 'always', 4), edge(1, 'success', 2), edge(2, 'failure', 4)];
    expect(summaryOf(nodes, edges)).toEqual([
      { node: 4, path: ['1 success', '2 failure'], next: [] },
      { node: 2, path: ['1 success'], next: [4] },
    ]);
  });

  it('lists nodes that ended the workflow before other failed nodes', () => {
    const nodes = [node(1, 'failed'), node(2, 'successful'), node(3, 'error')];
    const edges = [edge(1, 'failure', 2)];
    expect(summaryOf(nodes, edges).map((failure) => failure.node)).toEqual([3, 1]);
    const view = workflowCauseView({ status: 'failed' }, failedNodes(nodes, edges), new Map());
    expect(String(view)).toContain('The workflow failed at n3');
    expect(String(view)).toContain('continued with n2');
  });

  it('is empty while the workflow runs, and after it succeeded', () => {
    expect(workflowCauseView({ status: 'running' }, [], new Map())).toBeNull();
    expect(workflowCauseView({ status: 'successful' }, [], new Map())).toBeNull();
  });

  it('reports a cancellation', () => {
    expect(String(workflowCauseView({ status: 'canceled' }, [], new Map()))).toContain('canceled');
  });
});
