import { type Actor } from '../../common/access.js';
import { html, type HtmlValue } from '../shared/html.js';
import { RELAUNCHABLE } from '../shared/list-actions.service.js';
import { panelButton } from '../shared/panel-forms.js';
import { RunsRepository } from '../../runs/runs.repository.js';

/** The part of a run's representation that panels use. */
export interface ShownRun {
  id: number;
  type: string;
  url: string;
  status: string;
  passwords_needed_to_start?: readonly string[];
  summary_fields: { user_capabilities?: { start?: boolean } };
}

interface ActionContext {
  actor: Actor;
  csrf: string;
  isActive: boolean;
  /** True if some hosts of the run failed; a relaunch can be limited to these hosts. */
  someFailed?: boolean;
}

/**
 * Renders the cancel button of an active run, or the relaunch buttons of a finished run, if the
 * caller may use them.
 */
export async function runActions(
  runs: RunsRepository,
  run: ShownRun,
  context: ActionContext,
): Promise<HtmlValue> {
  const { actor, csrf, isActive } = context;
  if (!isActive) return RELAUNCHABLE.has(run.type) && relaunch(run, context);
  const cancelable = await runs.cancelable([run], actor);
  const form = { action: `${run.url}cancel/`, csrf };
  return cancelable.has(run.id) && panelButton(form, 'Cancel', 'button danger');
}

function relaunch(run: ShownRun, { csrf, someFailed = false }: ActionContext): HtmlValue {
  if (run.summary_fields.user_capabilities?.start !== true) return null;
  const url = `${run.url}relaunch/`;
  if ((run.passwords_needed_to_start ?? []).length > 0) {
    return html`<a class="button" href="${url}#form-post">Relaunch…</a>`;
  }
  const form = { action: url, csrf };
  const onFailed = { ...form, fields: { hosts: 'failed' } };
  return [
    panelButton(form, 'Relaunch', 'button'),
    someFailed && panelButton(onFailed, 'Relaunch on failed hosts', 'button'),
  ];
}
