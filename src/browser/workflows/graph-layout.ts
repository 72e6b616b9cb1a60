import { entryOf, zip } from '../../common/invariants.js';
import type { Edge } from '../../workflows/workflow-rows.service.js';

/** The part of a node that the layout uses. */
interface LayoutNode {
  id: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  width: number;
  height: number;
  /** Upper left corner of each node. */
  positions: ReadonlyMap<number, Point>;
  /** Points of each edge, from the right side of a node to the left side of another node. */
  paths: readonly { edge: Edge; points: readonly Point[] }[];
}

export const NODE_WIDTH = 200;
export const NODE_HEIGHT = 64;
const LAYER_GAP = 104;
const ROW_GAP = 26;
const MARGIN = 12;
/** Number of passes that reorder the rows by their neighbors. */
const SWEEPS = 4;

/** A node, or a point where a long edge passes a layer. */
interface Slot {
  node: number | null;
  layer: number;
  row: number;
  parents: Slot[];
  children: Slot[];
}

/**
 * Lays out a graph in layers from left to right. Each node is to the right of its parents (longest
 * path), rows are ordered by the rows of their neighbors, and long edges get a slot in each layer
 * that they pass.
 *
 * @param edges without cycles; edges of unknown nodes are omitted
 */
export function layOut(nodes: readonly LayoutNode[], edges: readonly Edge[]): Layout {
  const ids = new Set(nodes.map(({ id }) => id));
  const known = edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const layerOf = longestPaths(nodes, known);
  const slots = new Map<number, Slot>(
    nodes.map(({ id }) => [id, newSlot(id, layerOf.get(id) ?? 0)]),
  );
  const chains = known.map((edge) => ({ edge, chain: chainOf(edge, slots) }));
  const layers = inLayers([
    ...slots.values(),
    ...chains.flatMap(({ chain }) => chain.slice(1, -1)),
  ]);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) order(layers, sweep % 2 === 0);
  const tallest = Math.max(1, ...layers.map(({ length }) => length));
  const positionOf = ({ layer, row }: Slot): Point => ({
    x: MARGIN + layer * (NODE_WIDTH + LAYER_GAP),
    y: MARGIN + (row + (tallest - (layers[layer]?.length ?? 0)) / 2) * (NODE_HEIGHT + ROW_GAP),
  });
  return {
    width: 2 * MARGIN + layers.length * (NODE_WIDTH + LAYER_GAP) - LAYER_GAP,
    height: 2 * MARGIN + tallest * (NODE_HEIGHT + ROW_GAP) - ROW_GAP,
    positions: new Map([...slots].map(([id, slot]) => [id, positionOf(slot)])),
    paths: chains.map(({ edge, chain }) => ({ edge, points: pathOf(chain.map(positionOf)) })),
  };
}

const newSlot = (node: number | null, layer: number): Slot => ({
  node,
  layer,
  row: 0,
  parents: [],
  children: [],
});

/** Returns the layer of each node: the number of edges on the longest path to it. */
function longestPaths(nodes: readonly LayoutNode[], edges: readonly Edge[]): Map<number, number> {
  const layers = new Map(nodes.map(({ id }) => [id, 0]));
  // Without a cycle, no path is longer than the number of nodes; the bound also ends a cyclic
  // graph.
  for (let round = 0, isChanged = true; isChanged && round < nodes.length; round += 1) {
    isChanged = false;
    for (const { from, to } of edges) {
      const minLayer = entryOf(layers, from) + 1;
      if (entryOf(layers, to) >= minLayer) continue;
      layers.set(to, minLayer);
      isChanged = true;
    }
  }
  return layers;
}

/** Returns the ends of an edge and a slot in each layer between them, linked to each other. */
function chainOf({ from, to }: Edge, slots: ReadonlyMap<number, Slot>): Slot[] {
  const [first, last] = [entryOf(slots, from), entryOf(slots, to)];
  const chain = [first];
  for (let layer = first.layer + 1; layer < last.layer; layer += 1)
    chain.push(newSlot(null, layer));
  chain.push(last);
  for (const [parent, child] of zip(chain.slice(0, -1), chain.slice(1))) {
    parent.children.push(child);
    child.parents.push(parent);
  }
  return chain;
}

function inLayers(slots: readonly Slot[]): Slot[][] {
  const layers: Slot[][] = [];
  for (const slot of slots) {
    const layer = (layers[slot.layer] ??= []);
    slot.row = layer.length;
    layer.push(slot);
  }
  return Array.from(layers, (layer) => layer ?? []);
}

/** Sorts the slots of each layer by the mean row of their neighbors in the previous layer. */
function order(layers: readonly Slot[][], forward: boolean): void {
  const sequence = forward ? [...layers] : [...layers].reverse();
  for (const layer of sequence) {
    const meanRows = new Map(
      layer.map((slot) => {
        const near = forward ? slot.parents : slot.children;
        const sum = near.reduce((all, { row }) => all + row, 0);
        return [slot, near.length === 0 ? slot.row : sum / near.length];
      }),
    );
    layer.sort((a, b) => entryOf(meanRows, a) - entryOf(meanRows, b) || a.row - b.row);
    layer.forEach((slot, row) => (slot.row = row));
  }
}

/**
 * Returns the points of an edge: from the right side, through the slots that it passes, to the left
 * side.
 */
function pathOf(corners: readonly Point[]): Point[] {
  return corners.flatMap(({ x, y }, index): Point[] => {
    const middle = y + NODE_HEIGHT / 2;
    const left = { x, y: middle };
    const right = { x: x + NODE_WIDTH, y: middle };
    if (index === 0) return [right];
    return index === corners.length - 1 ? [left] : [left, right];
  });
}
