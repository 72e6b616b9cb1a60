import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { memberOf } from '../../common/records.js';
import { RunsRepository } from '../../runs/runs.repository.js';
import { ACTIVE_STATUSES } from '../../runs/state-machine.js';
import { html, type Html, type HtmlValue } from './html.js';
import { icon, type IconName } from './icons.js';
import { csrfInput } from './layout.js';
import { objectTitleOf, type Item } from './value-views.js';

const LAUNCHABLE: ReadonlySet<unknown> = new Set(['job_template', 'workflow_job_template']);
const RUNS: ReadonlySet<unknown> = new Set([
  'job',
  'workflow_job',
  'project_update',
  'inventory_update',
  'ad_hoc_command',
  'system_job',
]);

/** Returns true for rows whose type has actions. */
export const hasActions = ({ type }: Item): boolean => LAUNCHABLE.has(type) || RUNS.has(type);

/** Types of runs that can be relaunched. */
export const RELAUNCHABLE: ReadonlySet<unknown> = new Set([
  'job',
  'workflow_job',
  'ad_hoc_command',
]);

/** Actions that the caller may perform on a row of a list. */
export interface RowActions {
  buttons: HtmlValue;
  mayCancel: boolean;
  mayDelete: boolean;
}

@Injectable()
export class ListActions {
  constructor(private readonly runs: RunsRepository) {}

  /** Returns the actions of the rows, in order, with at most one statement for all rows. */
  async ofRows(rows: readonly Item[], actor: Actor, csrf: string): Promise<RowActions[]> {
    const active = rows
      .filter((row) => hasActions(row) && isActiveRun(row))
      .map(({ id, type }) => ({ id: Number(id), type: String(type) }));
    const cancelable =
      active.length > 0 ? await this.runs.cancelable(active, actor) : new Set<number>();
    return rows.map((row) => {
      const mayCancel = cancelable.has(Number(row.id));
      return {
        buttons: buttonsOf(row, csrf, mayCancel),
        mayCancel,
        mayDelete: hasCapability(row, 'delete') && !isActiveRun(row),
      };
    });
  }
}

/** Returns true if `user_capabilities` permits an action. */
export const hasCapability = (row: Item, action: string): boolean =>
  capabilityOf(row, action) === true;

/** Returns a capability of `user_capabilities`; undefined for actions without one. */
export const capabilityOf = (row: Item, action: string): unknown =>
  memberOf(memberOf(row.summary_fields, 'user_capabilities'), action);

/** Returns true for a run that has not ended. It cannot be deleted. */
export const isActiveRun = ({ type, status }: Item): boolean =>
  (RUNS.has(type) || type === 'workflow_approval') &&
  ACTIVE_STATUSES.some((active) => active === status);

/** Returns true if a launch may set optional prompts or survey answers. */
export const canPrompt = (row: Item): boolean =>
  row.survey_enabled === true ||
  Object.entries(row).some(([name, value]) => /^ask_\w+_on_launch$/.test(name) && value === true);

function buttonsOf(row: Item, csrf: string, mayCancel: boolean): HtmlValue {
  const url = String(row.url);
  const name = objectTitleOf(row);
  const post = (path: string, label: string, glyph: IconName): Html =>
    html`<form method="post" action="${url}${path}">
      ${csrfInput(csrf)}${iconButton(label, name, glyph)}
    </form>`;
  const link = (path: string, label: string, glyph: IconName): Html =>
    html`<a class="button icon" href="${url}${path}" title="${label}"
      >${icon(glyph)}<span class="hidden">${label} ${name}</span></a
    >`;
  const isTemplate = LAUNCHABLE.has(row.type);
  const needsPasswords = Number(memberOf(row.passwords_needed_to_start, 'length') ?? 0) > 0;
  return html`<span class="row-actions">
    ${
      isTemplate &&
      hasCapability(row, 'start') &&
      (canPrompt(row)
        ? link('launch/#form-post', 'Launch…', 'job')
        : post('launch/', 'Launch', 'job'))
    }
    ${isTemplate && hasCapability(row, 'copy') && link('copy/#form-post', 'Copy', 'copy')}
    ${
      RELAUNCHABLE.has(row.type) &&
      !isActiveRun(row) &&
      hasCapability(row, 'start') &&
      (needsPasswords
        ? link('relaunch/#form-post', 'Relaunch…', 'relaunch')
        : post('relaunch/', 'Relaunch', 'relaunch'))
    }
    ${mayCancel && post('cancel/', 'Cancel', 'cancel')}
  </span>`;
}

const iconButton = (label: string, name: string, glyph: IconName): Html =>
  html`<button class="icon" title="${label}">
    ${icon(glyph)}<span class="hidden">${label} ${name}</span>
  </button>`;
