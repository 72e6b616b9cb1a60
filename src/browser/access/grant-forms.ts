import { PATH_FIELD } from '../shared/browser-form.js';
import { attributes, html, type Html, type HtmlValue } from '../shared/html.js';
import { hiddenInput, panelForm, type PanelForm } from '../shared/panel-forms.js';
import { PRESET } from '../shared/presets.js';
import { objectTitleOf, type Item } from '../shared/values.js';
import type { FormRefusal } from '../shared/refusal.js';
import { isRecord } from '../../common/records.js';

/** Objects that a choice offers; scripts find the others, and so does a form without them. */
export const OFFERED = 50;
/** Preset with the search text of a choice that cannot show all objects. */
export const SOUGHT = 'who_or_what';

/** Objects of one kind, as a choice offers them. */
export interface OfferedKind {
  label: string;
  options: readonly (readonly [value: string, label: string])[];
}

interface Choice {
  id: string;
  name: string;
  label: string;
  kinds: readonly OfferedKind[];
  /** Value that was chosen before. */
  chosen?: string | undefined;
  /** How scripts search: `data-` attributes of the picker. */
  search: Readonly<Record<string, string>>;
}

/** A choice among objects of several kinds: a list, in which scripts search. */
export function choiceOf({ id, name, label, kinds, chosen, search }: Choice): Html {
  const given = { id, name, required: true, ...search };
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <select ${attributes(given)}>
      <option value="">---------</option>
      ${kinds
        .filter(({ options }) => options.length > 0)
        .map(
          (kind) =>
            html`<optgroup label="${kind.label}">
              ${kind.options.map(
                ([value, text]) =>
                  html`<option value="${value}" ${attributes({ selected: value === chosen })}>
                    ${text}
                  </option>`,
              )}
            </optgroup>`,
        )}
    </select>
  </div>`;
}

/** Without scripts: looks for what the choice is too short to show. */
export const seekForm = (path: string, anchor: string, sought: string): Html =>
  html`<form method="get" action="${path}#${anchor}" class="inline plain-only">
    <div class="field">
      <label for="${anchor}-sought">Not in the list? Words of its name</label>
      <input id="${anchor}-sought" name="${PRESET}${SOUGHT}" value="${sought}" maxlength="200" />
    </div>
    <button>Look for it</button>
  </form>`;

/** "Execute on Deploy the shop". */
export function roleTitle(role: Item): string {
  const { resource_name: object } = isRecord(role.summary_fields) ? role.summary_fields : {};
  return typeof object === 'string' && object !== ''
    ? `${objectTitleOf(role)} on ${object}`
    : objectTitleOf(role);
}

/** A user or team that holds a role. */
export interface Holder {
  kind: 'users' | 'teams';
  id: number;
  name: string;
}

/** The button that revokes a role from a user or team. */
export const revokeButton = (
  { kind, id, name }: Holder,
  role: { id: number; title: string },
  form: Pick<PanelForm, 'csrf' | 'returnTo'>,
  label: HtmlValue = 'Revoke',
): Html =>
  panelForm(
    { ...form, action: `/api/v2/roles/${role.id}/${kind}/`, isToldThere: true, kind: 'action' },
    html`${hiddenInput('id', id)} ${hiddenInput('disassociate', 'true')}
      <button class="quiet small">
        ${label}<span class="hidden"> ${role.title} from ${name}</span>
      </button>`,
  );

/** The choice of a user or team, which decides where the form is sent. */
export const holderChoice = (
  users: readonly Item[],
  teams: readonly Item[],
  refusal: FormRefusal | null,
): Html =>
  choiceOf({
    id: 'grant-to',
    name: PATH_FIELD,
    label: 'To a person or team',
    kinds: [
      { label: 'Teams', options: teams.map(rolesUrlOf) },
      { label: 'Users', options: users.map(rolesUrlOf) },
    ],
    chosen: refusal?.path,
    search: { 'data-picker': '/api/v2/teams/ /api/v2/users/', 'data-below': 'roles/' },
  });

const rolesUrlOf = (one: Item): readonly [string, string] => [
  `${String(one.url)}roles/`,
  objectTitleOf(one),
];
