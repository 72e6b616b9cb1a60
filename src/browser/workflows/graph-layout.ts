import { entryOf, zip } from '../../common/invariants.js';
import type { Edge } from '../../workflows/workflow-rows.service.js';

/** The part of a node that the layout uses. */
export interface Placeable {
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
  places: ReadonlyMap<number, Point>;
  /** The way of each edge: from the right side of a node to the left side of another. */
  ways: readonly { edge: Edge; points: readonly Point[] }[];
}

export const NODE_WIDTH = 200;
export const NODE_HEIGHT = 64;
const LAYER_GAP = 104;
const ROW_GAP = 26;
const MARGIN = 12;
/** How often rows are put in the order of what they hang on. */
const SWEEPS = 4;

/** A node, or the place where a long edge passes a layer. */
interface Slot {
  node: number | null;
  layer: number;
  row: number;
  parents: Slot[];
  children: Slot[];
}

/**
 * Draws a graph in layers from left to right: each node stands right of all its parents (longest
 * path), rows follow the rows of their neighbours, and long edges get a place in each layer they pass.
 *
 * @param edges without cycles; edges of nodes that are not given are left out
 */
export function layOut(nodes: readonly Placeable[], edges: readonly Edge[]): Layout {
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
  const placeOf = ({ layer, row }: Slot): Point => ({
    x: MARGIN + layer * (NODE_WIDTH + LAYER_GAP),
    y: MARGIN + (row + (tallest - (layers[layer]?.length ?? 0)) / 2) * (NODE_HEIGHT + ROW_GAP),
  });
  return {
    width: 2 * MARGIN + layers.length * (NODE_WIDTH + LAYER_GAP) - LAYER_GAP,
    height: 2 * MARGIN + tallest * (NODE_HEIGHT + ROW_GAP) - ROW_GAP,
    places: new Map([...slots].map(([id, slot]) => [id, placeOf(slot)])),
    ways: chains.map(({ edge, chain }) => ({ edge, points: wayOf(chain.map(placeOf)) })),
  };
}

const newSlot = (node: number | null, layer: number): Slot => ({
  node,
  layer,
  row: 0,
  parents: [],
  children: [],
});

/** The layer of each node: the number of edges on the longest way that leads to it. */
function longestPaths(nodes: readonly Placeable[], edges: readonly Edge[]): Map<number, number> {
  const layers = new Map(nodes.map(({ id }) => [id, 0]));
  // Without a cycle no way is longer than there are nodes; the bound ends on a broken graph too.
  for (let round = 0, isChanged = true; isChanged && round < nodes.length; round += 1) {
    isChanged = false;
    for (const { from, to } of edges) {
      const least = entryOf(layers, from) + 1;
      if (entryOf(layers, to) >= least) continue;
      layers.set(to, least);
      isChanged = true;
    }
  }
  return layers;
}

/** Both ends of an edge and a slot in every layer between them, tied to each other. */
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

/** Puts the slots of each layer in the order of the mean row of their neighbours in the one before. */
function order(layers: readonly Slot[][], forward: boolean): void {
  const sequence = forward ? [...layers] : [...layers].reverse();
  for (const layer of sequence) {
    const wish = new Map(
      layer.map((slot) => {
        const near = forward ? slot.parents : slot.children;
        const sum = near.reduce((all, { row }) => all + row, 0);
        return [slot, near.length === 0 ? slot.row : sum / near.length];
      }),
    );
    layer.sort((a, b) => entryOf(wish, a) - entryOf(wish, b) || a.row - b.row);
    layer.forEach((slot, row) => (slot.row = row));
  }
}

/** Points of an edge: out on the right, through the middle of what it passes, in on the left. */
function wayOf(corners: readonly Point[]): Point[] {
  return corners.flatMap(({ x, y }, index): Point[] => {
    const middle = y + NODE_HEIGHT / 2;
    const left = { x, y: middle };
    const right = { x: x + NODE_WIDTH, y: middle };
    if (index === 0) return [right];
    return index === corners.length - 1 ? [left] : [left, right];
  });
}
