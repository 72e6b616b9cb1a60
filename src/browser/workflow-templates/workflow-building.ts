import { html, type Html, type HtmlValue } from '../shared/html.js';
import {
  hiddenInput,
  objectSelect,
  panelButton,
  panelForm,
  panelTextInput,
} from '../shared/panel-forms.js';
import { PRESET } from '../shared/presets.js';
import type { ReferenceChoices } from '../../common/rest/reference-lists.service.js';
import { resource } from '../../common/resource/registry.js';
import type { Edge } from '../../workflows/workflow-rows.service.js';
import { EDGE_WORDS, type ShownNode } from '../workflows/graph-view.js';
import { keysOf } from '../../common/records.js';

export interface BuildingParts {
  /** URL of the workflow job template. */
  url: string;
  csrf: string;
  nodes: readonly ShownNode[];
  edges: readonly Edge[];
  /** Ids of the nodes without a template. */
  idle: ReadonlySet<number>;
  /** Templates that the caller may use in a step. */
  templates: ReferenceChoices;
  /** Id of the node that the next step follows; the last node if unknown. */
  after: number | null;
}

const HERE = '#build';
const nodeUrl = (id: number): string => resource('workflow_job_template_node').url(id);

/** Renders forms that add, link and remove the steps of a workflow. */
export function buildingView(parts: BuildingParts): Html {
  const { nodes, after } = parts;
  const last = nodes.find(({ id }) => id === after) ?? nodes.at(-1);
  return html`<div id="build">
    ${nodes.filter(({ id }) => parts.idle.has(id)).map((node) => idleStep(node, parts))}
    ${last ? nextStep(last, parts) : firstStep(parts)} ${nodes.length > 0 && nodeRows(parts)}
  </div>`;
}

const stepSelect = (templates: ReferenceChoices, id = 'step-template'): Html =>
  objectSelect(
    {
      id,
      name: 'unified_job_template',
      label: 'Run',
      list: '/api/v2/unified_job_templates/',
    },
    templates,
  );

const back = ({ url }: BuildingParts): string => `${url}${HERE}`;

function firstStep(parts: BuildingParts): Html {
  const form = { action: `${parts.url}workflow_nodes/`, csrf: parts.csrf, returnTo: back(parts) };
  return html`<h3>First step</h3>
    ${panelForm(form, html`${stepSelect(parts.templates)}<button class="primary">Add</button>`)}
    ${panelForm(form, html`<button>Ask for an approval first</button>`)}`;
}

/**
 * Renders the form that adds a step after a node; each button adds it with a different condition.
 */
function nextStep(node: ShownNode, parts: BuildingParts): Html {
  const { csrf, templates, url } = parts;
  const form = { action: url, csrf, returnTo: back(parts) };
  const buttons = keysOf(EDGE_WORDS).map(
    (kind) =>
      html`<button formaction="${nodeUrl(node.id)}${kind}_nodes/">${EDGE_WORDS[kind]}</button>`,
  );
  const atStart = html`<button formaction="${url}workflow_nodes/">at the start</button>`;
  return html`<h3>Next step after ${node.name}</h3>
    ${panelForm(form, html`${stepSelect(templates)} ${buttons} ${atStart}`)}
    ${panelForm(form, html`<span>Ask for an approval</span> ${buttons}`)}`;
}

/** Renders forms for a node without a template, which set a template or an approval. */
function idleStep({ id, name }: ShownNode, parts: BuildingParts): Html {
  const { csrf } = parts;
  const form = { csrf, returnTo: back(parts) };
  return html`<section aria-labelledby="idle-${id}">
    <h3 id="idle-${id}">${name} runs nothing</h3>
    <p class="hint">No template was chosen, or it was deleted. Choose what the step does.</p>
    ${panelForm(
      { ...form, action: nodeUrl(id), method: 'PATCH' },
      html`${stepSelect(parts.templates, `step-template-${id}`)}<button>Save</button>`,
    )}
    ${panelForm(
      { ...form, action: `${nodeUrl(id)}create_approval_template/` },
      html`${panelTextInput({ id: `question-${id}`, name: 'name', label: 'Approval text' }, { required: true, maxlength: 512 })}
        <button>Ask for approval</button>`,
    )}
  </section>`;
}

function nodeRows(parts: BuildingParts): Html {
  const { nodes, csrf, url } = parts;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Steps">
    <table class="stacks">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Starts</th>
          <th scope="col"><span class="hidden">Actions</span></th>
        </tr>
      </thead>
      <tbody>
        ${nodes.map(
          ({ id, name }) =>
            html`<tr>
              <th scope="row"><a href="${nodeUrl(id)}">${name}</a></th>
              <td data-label="Starts">${startsAfter(id, parts)}</td>
              <td class="end">
                <a class="button small" href="${url}?${PRESET}after=${id}${HERE}"
                  >Then…<span class="hidden"> after ${name}</span></a
                >
                ${panelButton(
                  { action: nodeUrl(id), csrf, returnTo: back(parts), method: 'DELETE' },
                  html`Remove<span class="hidden"> ${name}</span>`,
                )}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Renders the incoming links of a step, each with a button that removes the link. */
function startsAfter(id: number, parts: BuildingParts): HtmlValue {
  const leading = parts.edges.filter(({ to }) => to === id);
  const nameOf = (one: number): string => parts.nodes.find((node) => node.id === one)?.name ?? '';
  if (leading.length === 0) return 'immediately';
  return html`<ul class="held">
    ${leading.map(
      ({ from, kind }) =>
        html`<li>
          ${EDGE_WORDS[kind]} after ${nameOf(from)}
          ${panelForm(
            {
              action: `${nodeUrl(from)}${kind}_nodes/`,
              csrf: parts.csrf,
              returnTo: back(parts),
            },
            html`${hiddenInput('id', id)} ${hiddenInput('disassociate', 'true')}
              <button class="small">
                Remove link<span class="hidden"> from ${nameOf(from)}</span>
              </button>`,
          )}
        </li>`,
    )}
  </ul>`;
}
