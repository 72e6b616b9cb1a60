import { entryOf, existing } from '../../common/invariants.js';
import type { Edge } from '../../workflows/workflow-rows.service.js';
import { layOut, NODE_HEIGHT, NODE_WIDTH } from './graph-layout.js';

const nodes = (count: number) =>
  Array.from({ length: count }, (_none, index) => ({ id: index + 1 }));
const edge = (from: number, to: number, kind: Edge['kind'] = 'success'): Edge => ({
  from,
  to,
  kind,
});

describe('layOut', () => {
  it('puts every node to the right of all its parents', () => {
    const edges = [edge(1, 2), edge(1, 3), edge(2, 4), edge(3, 4), edge(1, 4), edge(4, 5)];
    const { positions } = layOut(nodes(5), edges);
    for (const { from, to } of edges) {
      expect(entryOf(positions, to).x).toBeGreaterThan(entryOf(positions, from).x + NODE_WIDTH);
    }
  });

  it('never overlaps two nodes, and keeps all nodes inside the drawing', () => {
    const edges = [
      edge(1, 2),
      edge(1, 3),
      edge(1, 4),
      edge(2, 5),
      edge(3, 5),
      edge(1, 6),
      edge(5, 6),
    ];
    const { positions, width, height } = layOut(nodes(8), edges);
    const all = [...positions.values()];
    expect(all).toHaveLength(8);
    all.forEach((one, index) => {
      expect(one.x + NODE_WIDTH).toBeLessThanOrEqual(width);
      expect(one.y + NODE_HEIGHT).toBeLessThanOrEqual(height);
      for (const other of all.slice(index + 1)) {
        const apart =
          Math.abs(one.x - other.x) >= NODE_WIDTH || Math.abs(one.y - other.y) >= NODE_HEIGHT;
        expect(apart).toBe(true);
      }
    });
  });

  it('routes a long edge around the nodes between its ends', () => {
    const { positions, paths } = layOut(nodes(3), [edge(1, 2), edge(2, 3), edge(1, 3, 'always')]);
    const long = existing(
      paths.find((way) => way.edge.kind === 'always'),
      'every edge has a path',
    );
    expect(long.points).toHaveLength(4);
    const between = entryOf(positions, 2);
    for (const { y } of long.points.slice(1, 3)) {
      expect(y < between.y || y > between.y + NODE_HEIGHT).toBe(true);
    }
  });

  it('omits edges of hidden nodes, and terminates on a graph with a cycle', () => {
    expect(layOut(nodes(2), [edge(1, 9)]).paths).toEqual([]);
    expect(layOut(nodes(2), [edge(1, 2), edge(2, 1)]).positions.size).toBe(2);
  });

  it('returns an empty layout without nodes', () => {
    const { positions, paths, height } = layOut([], []);
    expect([positions.size, paths.length]).toEqual([0, 0]);
    expect(height).toBeGreaterThan(0);
  });
});
