import { PATH_FIELD } from '../shared/browser-form.js';
import { attributes, html, type Html, type HtmlValue } from '../shared/html.js';
import { panelButton, type PanelForm } from '../shared/panel-forms.js';
import { PRESET } from '../shared/form-parameters.js';
import { objectTitleOf, type Item } from '../shared/value-views.js';
import type { FormRefusal } from '../shared/refusal.js';
import { isRecord } from '../../common/records.js';

/** Maximum number of users, of teams or of roles in a select; scripts and the search form find others. */
export const MAX_OPTIONS = 50;
/** Name of the parameter that holds the search text of a truncated select. */
export const SEARCH = 'name_contains';

/** Objects of one kind in a select. */
interface OptionGroup {
  label: string;
  options: readonly (readonly [value: string, label: string])[];
}

interface GroupedSelect {
  id: string;
  name: string;
  label: string;
  groups: readonly OptionGroup[];
  /** Value of the selected option. */
  chosen?: string | undefined;
  /** `data-` attributes that configure the search script of the picker. */
  search: Readonly<Record<string, string>>;
}

/** Renders a select with the objects of several kinds; scripts add a search. */
export function groupedSelect({ id, name, label, groups, chosen, search }: GroupedSelect): Html {
  const names = { id, name, required: true, ...search };
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <select ${attributes(names)}>
      <option value="">---------</option>
      ${groups
        .filter(({ options }) => options.length > 0)
        .map(
          (group) =>
            html`<optgroup label="${group.label}">
              ${group.options.map(
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

/** Renders the search form for browsers without scripts. */
export const searchForm = (path: string, anchor: string, search: string): Html =>
  html`<form method="get" action="${path}#${anchor}" class="inline plain-only">
    <div class="field">
      <label for="${anchor}-sought">Not in the list? Search by name</label>
      <input id="${anchor}-sought" name="${PRESET}${SEARCH}" value="${search}" maxlength="200" />
    </div>
    <button>Search</button>
  </form>`;

/** Returns text such as "Execute on Deploy the shop". */
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

/** Renders the button that revokes a role from a user or team. */
export const revokeButton = (
  { kind, id, name }: Holder,
  role: { id: number; title: string },
  form: Pick<PanelForm, 'csrf' | 'returnTo'>,
  label: HtmlValue = 'Revoke',
): Html =>
  panelButton(
    {
      ...form,
      action: `/api/v2/roles/${role.id}/${kind}/`,
      errorsInCard: true,
      fields: { id, disassociate: true },
    },
    html`${label}<span class="hidden"> ${role.title} from ${name}</span>`,
    'quiet small',
  );

/** Renders the select of a user or team; its value is the path that the form is sent to. */
export const holderSelect = (
  users: readonly Item[],
  teams: readonly Item[],
  refusal: FormRefusal | null,
): Html =>
  groupedSelect({
    id: 'grant-to',
    name: PATH_FIELD,
    label: 'User or team',
    groups: [
      { label: 'Teams', options: teams.map(rolesUrlOption) },
      { label: 'Users', options: users.map(rolesUrlOption) },
    ],
    chosen: refusal?.path,
    search: { 'data-picker': '/api/v2/teams/ /api/v2/users/', 'data-below': 'roles/' },
  });

const rolesUrlOption = (holder: Item): readonly [string, string] => [
  `${String(holder.url)}roles/`,
  objectTitleOf(holder),
];
