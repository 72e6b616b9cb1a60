import { html, type Html, type HtmlValue } from '../shared/html.js';
import { objectSelect, panelButton, panelForm, panelTextInput } from '../shared/panel-forms.js';
import { PRESET } from '../shared/form-parameters.js';
import type { ReferenceList } from '../../common/rest/reference-lists.service.js';
import { resource } from '../../common/resource/define-resource.js';
import type { Edge } from '../../workflows/workflow-rows.service.js';
import { EDGE_TEXTS, type ShownNode } from '../workflows/graph-view.js';
import { keysOf } from '../../common/records.js';

interface BuildingParts {
  /** URL of the workflow job template. */
  url: string;
  csrf: string;
  nodes: readonly ShownNode[];
  edges: readonly Edge[];
  /** Node that the forms change; undefined for a workflow without nodes. */
  selected: ShownNode | undefined;
  /** True if the selected node has no template. */
  hasNoTemplate: boolean;
  /** Kind of the new link whose target the caller selects in the graph. */
  newLinkKind: Edge['kind'] | undefined;
  /** Templates that the caller may use in a step. */
  templates: ReferenceList;
  /** Forms that change the selected node. */
  change: HtmlValue;
}

const nodeUrl = (id: number): string => resource('workflow_job_template_node').url(id);

/** Returns the URL of a workflow's page with a node selected. */
export const selectionUrl = (url: string, id: number): string => `${url}?${PRESET}node=${id}`;

/** Renders forms that add, change, link and remove the steps of a workflow. */
export function buildingView(parts: BuildingParts): Html {
  const { selected } = parts;
  return html`<div id="build">${selected ? selectedStep(selected, parts) : firstStep(parts)}</div>`;
}

/**
 * Adds a button to each node that the selected node can be linked to; the button adds the link.
 */
export function withConnections(
  parts: Pick<BuildingParts, 'newLinkKind' | 'csrf' | 'edges' | 'nodes' | 'selected' | 'url'>,
): readonly ShownNode[] {
  const { newLinkKind, csrf, edges, nodes, selected, url } = parts;
  if (!selected || !newLinkKind) return nodes;
  const linked = new Set([
    ...selfAndAncestorsOf(selected.id, edges),
    ...edges.filter(({ from }) => from === selected.id).map(({ to }) => to),
  ]);
  const action = `${nodeUrl(selected.id)}${newLinkKind}_nodes/`;
  const connection = ({ id, name }: ShownNode): Html =>
    panelButton(
      { action, csrf, returnTo: selectionUrl(url, selected.id), fields: { id } },
      html`Connect<span class="hidden"> to ${name}</span>`,
      'primary small',
    );
  return nodes.map((node) => (linked.has(node.id) ? node : { ...node, actions: connection(node) }));
}

/** Returns the ids of a node and of all nodes before it. */
function selfAndAncestorsOf(id: number, edges: readonly Edge[]): ReadonlySet<number> {
  const found = new Set([id]);
  for (const node of found) {
    for (const { from, to } of edges) if (to === node) found.add(from);
  }
  return found;
}

const stepSelect = (templates: ReferenceList, id = 'step-template'): Html =>
  objectSelect(
    {
      id,
      name: 'unified_job_template',
      label: 'Run',
      list: '/api/v2/unified_job_templates/',
    },
    templates,
  );

function firstStep(parts: BuildingParts): Html {
  const form = { action: `${parts.url}workflow_nodes/`, csrf: parts.csrf, returnTo: parts.url };
  return html`<h3>First step</h3>
    ${panelForm(form, html`${stepSelect(parts.templates)}<button class="primary">Add</button>`)}
    ${panelForm(form, html`<button>Ask for an approval first</button>`)}`;
}

function selectedStep(node: ShownNode, parts: BuildingParts): Html {
  const { csrf, url, hasNoTemplate, newLinkKind } = parts;
  return html`<div class="line">
      <h3>${node.name}</h3>
      ${panelButton(
        { action: nodeUrl(node.id), csrf, returnTo: url, method: 'DELETE' },
        html`Remove<span class="hidden"> ${node.name}</span>`,
      )}
    </div>
    ${startsAfter(node, parts)}
    ${newLinkKind ? targetHint(node, newLinkKind, parts) : connectLinks(node, parts)}
    ${hasNoTemplate && templateChoice(node, parts)} ${nextStep(node, parts)} ${parts.change}`;
}

/** Renders links to the graph in which the caller selects the target of a new link. */
function connectLinks({ id }: ShownNode, { nodes, url }: BuildingParts): HtmlValue {
  const link = (kind: Edge['kind']): Html =>
    html`<a class="button small" href="${selectionUrl(url, id)}&${PRESET}connect=${kind}#graph"
      >Connect ${EDGE_TEXTS[kind]}…</a
    >`;
  return nodes.length > 1 && html`<p class="actions">${keysOf(EDGE_TEXTS).map(link)}</p>`;
}

function targetHint(
  { id, name }: ShownNode,
  kind: Edge['kind'],
  { nodes, url, ...parts }: BuildingParts,
): Html {
  const isPossible = withConnections({ ...parts, nodes, url }).some(({ actions }) => actions);
  return html`<p class="message" role="status">
    ${
      isPossible
        ? `Choose in the graph what runs ${EDGE_TEXTS[kind]} after ${name}.`
        : `All other nodes are before ${name} or follow it already.`
    }
    <a class="button small" href="${selectionUrl(url, id)}#graph">Cancel</a>
  </p>`;
}

/**
 * Renders the form that adds a step after a node; each button sets a different condition.
 */
function nextStep(node: ShownNode, parts: BuildingParts): Html {
  const { csrf, templates, url } = parts;
  const form = { action: url, csrf, returnTo: url };
  const buttons = keysOf(EDGE_TEXTS).map(
    (kind) =>
      html`<button formaction="${nodeUrl(node.id)}${kind}_nodes/">Add ${EDGE_TEXTS[kind]}</button>`,
  );
  const atStart = html`<button formaction="${url}workflow_nodes/">Add at the start</button>`;
  return html`<h4>Next step after ${node.name}</h4>
    ${panelForm(form, html`${stepSelect(templates)} ${buttons} ${atStart}`)}
    ${panelForm(form, html`<span>Ask for an approval</span> ${buttons}`)}`;
}

/** Renders forms for a node without a template, which set a template or an approval. */
function templateChoice({ id }: ShownNode, { csrf, templates, url }: BuildingParts): Html {
  const form = { csrf, returnTo: selectionUrl(url, id) };
  return html`<p class="hint">The step has no template. Choose a template or an approval.</p>
    ${panelForm(
      { ...form, action: nodeUrl(id), method: 'PATCH' },
      html`${stepSelect(templates, 'idle-template')}<button>Save</button>`,
    )}
    ${panelForm(
      { ...form, action: `${nodeUrl(id)}create_approval_template/` },
      html`${panelTextInput({ id: 'question', name: 'name', label: 'Approval text' }, { required: true, maxlength: 512 })}
        <button>Ask for approval</button>`,
    )}`;
}

/** Renders the incoming links of a step, each with a button that removes the link. */
function startsAfter({ id }: ShownNode, { csrf, edges, nodes, url }: BuildingParts): Html {
  const incoming = edges.filter(({ to }) => to === id);
  const nameOf = (nodeId: number): string => nodes.find((node) => node.id === nodeId)?.name ?? '';
  if (incoming.length === 0) return html`<p>Starts immediately.</p>`;
  return html`<ul class="held" aria-label="Starts">
    ${incoming.map(
      ({ from, kind }) =>
        html`<li>
          ${EDGE_TEXTS[kind]} after
          <a href="${selectionUrl(url, from)}#graph">${nameOf(from)}</a>
          ${panelButton(
            {
              action: `${nodeUrl(from)}${kind}_nodes/`,
              csrf,
              returnTo: selectionUrl(url, id),
              fields: { id, disassociate: 'true' },
            },
            html`Remove link<span class="hidden"> from ${nameOf(from)}</span>`,
          )}
        </li>`,
    )}
  </ul>`;
}
