import { html, type Html, type HtmlValue } from '../shared/html.js';
import { valueView, type Item } from '../shared/value-views.js';
import type { WebhookCauses } from '../shared/webhook-causes.service.js';
import { labelIn } from '../shared/labels.js';
import { resource, type ResourceDefinition } from '../../common/resource/define-resource.js';
import type { ShownRun } from './run-actions.js';

/** Fields at the top of the page of a run, in order; some kinds of runs lack some fields. */
const MAIN_FIELDS = ['started', 'elapsed', 'inventory', 'project', 'scm_branch', 'limit'];

/** Renders the id, launch and main fields of a run in a line below its name. */
export async function runSummary(shown: ShownRun & Item, causes: WebhookCauses): Promise<Html> {
  const [named = shown] = await causes.withEventNames([shown]);
  const run: ShownRun & Item = { ...shown, launched_by: named.launched_by };
  const definition = resource(run.type);
  return html`<dl id="run-facts" class="facts" data-refresh>
    ${fact('Run', html`#${run.id}`)} ${fact('Launched', launchOf(run, definition))}
    ${MAIN_FIELDS.filter((name) => isSet(run[name])).map((name) =>
      fact(
        labelIn(definition, name),
        name === 'elapsed' && isRunning(run)
          ? html`<span data-since="${String(run.started)}"
              >${valueView(name, run, definition)}</span
            >`
          : valueView(name, run, definition),
      ),
    )}
  </dl>`;
}

/** Returns true for a running run with a start. The page script updates its elapsed time. */
const isRunning = ({ status, started }: ShownRun & Item): boolean =>
  status === 'running' && typeof started === 'string';

/** Renders text such as "Manual by maria", or "Webhook: push to main by octo". */
const launchOf = (run: Item, definition: ResourceDefinition): HtmlValue => [
  valueView('launch_type', run, definition),
  isSet(run.launched_by) &&
    html`${run.launch_type === 'webhook' ? ': ' : ' by '}${valueView('launched_by', run, definition)}`,
];

const isSet = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== '' && !isEmptyObject(value);

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const fact = (label: string, value: HtmlValue): Html =>
  html`<div>
    <dt>${label}</dt>
    <dd>${value}</dd>
  </div>`;
