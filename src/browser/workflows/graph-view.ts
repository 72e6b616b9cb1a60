import { attributes, html, type Html, type HtmlValue } from '../shared/html.js';
import { folded, scrollTable } from '../shared/layout.js';
import { shorten, statusBadge, toneOf } from '../shared/value-views.js';
import { entryOf, itemAt } from '../../common/invariants.js';
import type { Edge } from '../../workflows/workflow-rows.service.js';
import { layOut, NODE_HEIGHT, NODE_WIDTH, type Point } from './graph-layout.js';
import { keysOf } from '../../common/records.js';
import { labelOf } from '../../common/fields/label.js';

export interface ShownNode {
  id: number;
  /** Identifier of the node; instead of a generated identifier, the name of its run or template. */
  name: string;
  /** Label of the node's type. */
  kind: string;
  /** State of the node; null in the graph of a template. */
  state: string | null;
  /** URL of the run, or of the node. */
  url: string | null;
  /** Buttons of the node, such as approve and deny. */
  actions?: HtmlValue;
  /** True for the node that the forms on the page change. */
  isSelected?: boolean;
}

/** Maximum number of nodes in a drawing; larger graphs are shown only as a table. */
const MAX_DRAWN = 200;
/** Maximum number of nodes in a drawing without edges. */
const MAX_LOOSE = 12;

/** Labels of the conditions of edges. */
export const EDGE_TEXTS: Record<Edge['kind'], string> = {
  success: 'on success',
  failure: 'on failure',
  always: 'always',
};

/** Renders the graph of a workflow as a drawing and as a table. */
export function graphView(nodes: readonly ShownNode[], edges: readonly Edge[]): Html {
  if (nodes.length === 0) return html`<p class="empty">The workflow has no nodes.</p>`;
  const isDrawn = nodes.length <= MAX_DRAWN && (edges.length > 0 || nodes.length <= MAX_LOOSE);
  const table = nodeTable(nodes, edges, !isDrawn);
  if (!isDrawn) return table;
  return html`${drawing(nodes, edges)} ${edges.length > 0 && legend(edges)}
  ${folded('As a table', table, { kind: 'plain' })}`;
}

function drawing(nodes: readonly ShownNode[], edges: readonly Edge[]): Html {
  const { width, height, positions, paths } = layOut(nodes, edges);
  return html`<div
    class="scroll graph"
    tabindex="0"
    role="region"
    aria-label="Graph of the workflow"
  >
    <svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
      <defs>
        ${Object.keys(EDGE_TEXTS).map(
          (kind) =>
            html`<marker
              id="arrow-${kind}"
              class="edge-${kind}"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              orient="auto"
            >
              <path d="M0 0L8 4L0 8z" />
            </marker>`,
        )}
      </defs>
      ${paths.map(({ edge, points }) => edgeView(edge, points))}
      ${nodes.map((node) => nodeView(node, entryOf(positions, node.id)))}
    </svg>
  </div>`;
}

/** Renders an edge as a line with the color, dashes and label of its condition. */
function edgeView({ kind }: Edge, points: readonly Point[]): Html {
  const [start, next] = [itemAt(points, 0), itemAt(points, 1)];
  const middle = { x: (start.x + next.x) / 2, y: (start.y + next.y) / 2 + 4 };
  return html`<g class="edge edge-${kind}">
    <path d="${curve(points)}" marker-end="url(#arrow-${kind})" />
    <text x="${middle.x}" y="${middle.y}" text-anchor="middle">${EDGE_TEXTS[kind]}</text>
  </g>`;
}

/** Returns an SVG path with curves between layers and straight lines past nodes. */
function curve(points: readonly Point[]): string {
  return points
    .map(({ x, y }, index) => {
      if (index === 0) return `M${x} ${y}`;
      const previous = itemAt(points, index - 1);
      const middle = (previous.x + x) / 2;
      return index % 2 === 0 ? `L${x} ${y}` : `C${middle} ${previous.y} ${middle} ${y} ${x} ${y}`;
    })
    .join('');
}

function nodeView(node: ShownNode, { x, y }: Point): Html {
  const { name, kind, state, url, actions, isSelected = false } = node;
  const tone = state === null ? 'plain' : toneOf(state);
  const label = [name, kind, state].filter(Boolean).join(', ');
  const box = html`<rect width="${NODE_WIDTH}" height="${NODE_HEIGHT}" rx="9" />
    <rect class="tone" width="6" height="${NODE_HEIGHT}" rx="3" />
    <foreignObject x="16" y="8" width="${NODE_WIDTH - 24}" height="24">
      <div class="node-name">${name}</div>
    </foreignObject>
    ${
      !actions &&
      html`<text class="kind-line" x="16" y="46"
        >${kind}${state !== null && html` · <tspan class="state">${labelOf(state)}</tspan>`}</text
      >`
    }`;
  const linked = url
    ? html`<a href="${url}" aria-label="${label}" ${isSelected && html`aria-current="true"`}
        >${box}</a
      >`
    : html`<g role="img" aria-label="${label}">${box}</g>`;
  return html`<g class="node tone-${tone}" transform="translate(${x} ${y})">
    <title>${label}</title>
    ${linked}
    ${
      actions &&
      html`<foreignObject x="12" y="33" width="${NODE_WIDTH - 20}" height="30">
        <div class="node-actions">${actions}</div>
      </foreignObject>`
    }
  </g>`;
}

function legend(edges: readonly Edge[]): Html {
  const kinds = keysOf(EDGE_TEXTS).filter((kind) => edges.some((edge) => edge.kind === kind));
  return html`<ul class="legend" aria-label="Lines">
    ${kinds.map(
      (kind) =>
        html`<li>
          <svg width="44" height="10" class="edge-${kind}" aria-hidden="true">
            <path d="M2 5H42" />
          </svg>
          ${EDGE_TEXTS[kind]}
        </li>`,
    )}
  </ul>`;
}

/** @param hasActions true to include the buttons of the nodes, if the table is the only view */
function nodeTable(nodes: readonly ShownNode[], edges: readonly Edge[], hasActions: boolean): Html {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  const hasStates = nodes.some(({ state }) => state !== null);
  const after = (id: number): HtmlValue =>
    edges
      .filter(({ to, from }) => to === id && names.has(from))
      .map(({ from, kind }) => html`${EDGE_TEXTS[kind]} after ${names.get(from)}<br />`);
  return scrollTable(
    'Nodes of the workflow',
    ['Node', 'Kind', hasStates && 'State', 'Starts'],
    nodes.map(
      ({ id, name, kind, state, url, actions }) =>
        html`<tr>
          <th scope="row">
            <a ${attributes({ href: url })}>${shorten(name, 80)}</a>${hasActions && actions}
          </th>
          <td data-label="Kind">${kind}</td>
          ${hasStates && html`<td data-label="State">${state !== null && statusBadge(state)}</td>`}
          <td data-label="Starts">
            ${edges.some(({ to }) => to === id) ? after(id) : 'immediately'}
          </td>
        </tr>`,
    ),
  );
}
