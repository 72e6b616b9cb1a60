import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { html, type Html, type HtmlValue } from '../shared/html.js';
import { ACTIONS_HEADING, groupedTable } from '../shared/layout.js';
import { panelCard, panelForm, type PanelForm } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { refusalView } from '../shared/refusal.js';
import { objectTitleOf, type Item } from '../shared/value-views.js';
import { labelFor } from '../shared/labels.js';
import { isRecord, memberOf } from '../../common/records.js';
import { resource } from '../../common/resource/define-resource.js';
import { sql } from '../../database/sql.js';
import { GrantsService } from '../../access/grants.service.js';
import { heldObjects } from '../../access/role-ancestors.repository.js';
import { rolesGrantedToUser } from '../../access/role-members.repository.js';
import {
  rolesGrantedToTeam,
  rolesGrantedToTeams,
  RoleTeamsRepository,
} from '../../access/role-teams.repository.js';
import {
  groupedSelect,
  MAX_OPTIONS,
  revokeButton,
  roleTitle,
  searchForm,
  SEARCH,
  type Holder,
} from './grant-forms.js';

interface ShownHolder {
  id: number;
  type: string;
  url: string;
  is_superuser?: boolean;
  is_system_auditor?: boolean;
}

/** A role, with the team that grants the role to the user. */
interface Holding {
  role: Item;
  /** Null if the holder has the role directly. */
  team: Item | null;
}

interface Holdings {
  holdings: readonly Holding[];
  /** False if the roles or teams reached the limit. */
  isComplete: boolean;
}

type Form = Pick<PanelForm, 'csrf' | 'returnTo'>;

const CARD = 'may';
/** Maximum number of direct roles, of teams, and of roles of teams; the lists of the API are complete. */
const LIMIT = 200;

/** Shows the roles of a user or team with their origin, and the forms that change them. */
@Injectable()
@PagePanel('user', 'team')
export class HoldingsPanel implements Panel<ShownHolder> {
  constructor(
    private readonly source: PanelSource,
    private readonly grants: GrantsService,
    private readonly teams: RoleTeamsRepository,
  ) {}

  async render(context: PanelContext<ShownHolder>): Promise<Html> {
    const { object, actor, csrf } = context;
    const form = { csrf, returnTo: `${object.url}#${CARD}` };
    const holder = holderOf(object);
    const { holdings, isComplete } = await this.holdings(object, actor);
    const ids = holdings.map(({ role }) => Number(role.id));
    const manageable = await this.grants.manageable([...new Set(ids)], actor);
    return panelCard(
      CARD,
      `Roles of ${holder.name}`,
      html`${flagsView(object)} ${holdingsTable(holdings, { holder, manageable, form })}
      ${
        !isComplete &&
        html`<p>Some roles may be missing. <a href="${object.url}roles/">All granted roles</a></p>`
      }
      ${refusalView(context.refusal, CARD)} ${await this.grantForm(context, form)}`,
    );
  }

  private async holdings(object: ShownHolder, actor: Actor): Promise<Holdings> {
    const { id, type } = object;
    const roles = resource('role');
    const directRoles = await this.source.list(roles, { page_size: String(LIMIT) }, actor, {
      scope: sql`t.id IN (${type === 'team' ? rolesGrantedToTeam(id) : rolesGrantedToUser(id)})`,
    });
    const direct = directRoles.map((role): Holding => ({ role, team: null }));
    const teamQuery = { page_size: String(LIMIT) };
    const teams =
      type === 'team'
        ? []
        : await this.source.list(resource('team'), teamQuery, actor, {
            scope: sql`t.id IN (${heldObjects('team', 'member_role', { id })})`,
          });
    if (teams.length === 0) return { holdings: direct, isComplete: direct.length < LIMIT };
    const ids = teams.map((team) => Number(team.id));
    const teamRoles = await this.source.list(roles, { page_size: String(LIMIT) }, actor, {
      scope: sql`t.id IN (${rolesGrantedToTeams(ids)})`,
    });
    const pairs = await this.teams.grantsTo(ids);
    const byTeams = pairs.flatMap(({ role_id: role, team_id: team }): Holding[] => {
      const [shownRole, shownTeam] = [
        teamRoles.find((candidate) => candidate.id === role),
        teams.find((candidate) => candidate.id === team),
      ];
      return shownRole && shownTeam ? [{ role: shownRole, team: shownTeam }] : [];
    });
    return {
      holdings: [...direct, ...byTeams],
      isComplete: [directRoles, teams, teamRoles].every(({ length }) => length < LIMIT),
    };
  }

  private async grantForm(
    { object, actor, initialValues, refusal }: PanelContext<ShownHolder>,
    form: Form,
  ): Promise<HtmlValue> {
    const action = `${object.url}roles/`;
    if (!(await this.source.openParts(action, actor)).attach) return null;
    const search = initialValues[SEARCH] ?? '';
    const query = { role_level: 'admin_role', page_size: String(MAX_OPTIONS) };
    const roles = await this.source.list(
      resource('role'),
      search === '' ? query : { ...query, called: search },
      actor,
    );
    if (roles.length === 0 && search === '') return null;
    const kinds = [...new Set(roles.map(kindOf))];
    const hasMore = search !== '' || roles.length === MAX_OPTIONS;
    return html`<h3>Grant</h3>
      ${panelForm(
        { ...form, action, errorsInCard: true },
        html`${groupedSelect({
            id: 'grant-role',
            name: 'id',
            label: 'Role',
            groups: kinds.map((label) => ({
              label,
              options: roles
                .filter((role) => kindOf(role) === label)
                .map((role) => [String(role.id), roleTitle(role)] as const),
            })),
            chosen: refusal?.chosen,
            search: {
              'data-picker': '/api/v2/roles/?role_level=admin_role',
              'data-search': 'called',
            },
          })} <button class="primary">Grant</button>`,
      )}
      ${hasMore && searchForm(object.url, CARD, search)}`;
  }
}

const holderOf = (object: ShownHolder): Holder => ({
  kind: object.type === 'team' ? 'teams' : 'users',
  id: object.id,
  name: objectTitleOf({ ...object }),
});

function flagsView({ is_superuser: isSuperuser, is_system_auditor: isAuditor }: ShownHolder) {
  return html`${isSuperuser === true && html`<p><strong>Superuser</strong>: has every permission.</p>`}
  ${isAuditor === true && html`<p><strong>System auditor</strong>: can read everything.</p>`}`;
}

interface TableParts {
  holder: Holder;
  manageable: ReadonlySet<number>;
  form: Form;
}

/** Returns the label of the resource type that a role belongs to. */
const kindOf = ({ summary_fields: summary }: Item): string =>
  labelFor(String(memberOf(summary, 'resource_type') ?? 'system'));

function holdingsTable(holdings: readonly Holding[], parts: TableParts): Html {
  if (holdings.length === 0) return html`<p class="hint">No roles that you can read.</p>`;
  const kinds = [...new Set(holdings.map(({ role }) => kindOf(role)))].sort();
  return groupedTable(
    'Roles',
    ['Role', 'Reason', ACTIONS_HEADING],
    kinds.map(
      (kind) =>
        html`<tbody>
          <tr>
            <th colspan="3" scope="rowgroup">${kind}</th>
          </tr>
          ${holdings.filter(({ role }) => kindOf(role) === kind).map((holding) => row(holding, parts))}
        </tbody>`,
    ),
  );
}

function row({ role, team }: Holding, { holder, manageable, form }: TableParts): Html {
  const id = Number(role.id);
  const title = roleTitle(role);
  const { name, related, summary_fields: summary } = role;
  const [objectUrl] = Object.entries(isRecord(related) ? related : {}).flatMap(([link, url]) =>
    ['users', 'teams'].includes(link) ? [] : [String(url)],
  );
  const object = memberOf(summary, 'resource_name');
  const from: Holder = team
    ? { kind: 'teams', id: Number(team.id), name: objectTitleOf(team) }
    : holder;
  return html`<tr>
    <td>
      ${String(name)}
      ${typeof object === 'string' && html` on <a href="${objectUrl ?? ''}">${object}</a>`}
      <small>${String(role.description ?? '')}</small>
    </td>
    <td data-label="Reason">
      ${team ? html`by team <a href="${String(team.url)}">${objectTitleOf(team)}</a>` : 'granted'}
    </td>
    <td class="end">
      ${manageable.has(id) && revokeButton(from, { id, title }, form, team ? 'Revoke from the team' : 'Revoke')}
    </td>
  </tr>`;
}
