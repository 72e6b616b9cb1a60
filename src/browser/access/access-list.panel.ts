import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { attributes, html, type Html, type HtmlValue } from '../shared/html.js';
import { ACTIONS_HEADING, groupedTable } from '../shared/layout.js';
import { panelCard, panelForm, type PanelForm } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { refusalView } from '../shared/refusal.js';
import { objectTitleOf, type Item } from '../shared/value-views.js';
import {
  findResource,
  resource,
  type ResourceDefinition,
} from '../../common/resource/define-resource.js';
import { describeRole } from '../../common/resource/role-descriptions.js';
import type { AccessEntry } from '../../access/access-list.service.js';
import { GrantsService } from '../../access/grants.service.js';
import { ROLE_OBJECTS } from '../../access/role-search.js';
import { RoleTeamsRepository } from '../../access/role-teams.repository.js';
import { holderSelect, MAX_OPTIONS, revokeButton, searchForm, SEARCH } from './grant-forms.js';

interface ShownUser extends Item {
  id: number;
  url: string;
  username: string;
  summary_fields: { direct_access: AccessEntry[]; indirect_access: AccessEntry[] };
}

interface AccessPage {
  results: ShownUser[];
}

/** The object whose access list the page shows. */
interface Subject {
  definition: ResourceDefinition;
  id: number;
}

/** A role on the object, with the reason why the holder has the role. */
interface Grant {
  role: string;
  reason: HtmlValue;
  revoke: HtmlValue;
}

/** A user or team in the table, with its roles. */
interface AccessRow {
  name: string;
  url: string;
  kind: string;
  grants: readonly Grant[];
}

const TYPES = { ...ROLE_OBJECTS, user: 'users' };
const CARD = 'access';
/** Default action of the grant form; the selected user or team replaces it. */
const ROLES = '/api/v2/roles/';

/** Shows the permissions on an object with their origin, and the forms that change them. */
@Injectable()
@PagePanel(...Object.values(TYPES).map((path) => `${path}_access_list_list`))
export class AccessListPanel implements Panel<AccessPage> {
  readonly showsRows = true;

  constructor(
    private readonly source: PanelSource,
    private readonly grants: GrantsService,
    private readonly teams: RoleTeamsRepository,
  ) {}

  async render(context: PanelContext<AccessPage>): Promise<Html> {
    const { object, actor, csrf, path } = context;
    const subject = await this.subjectOf(path, actor);
    const form = { csrf, returnTo: `${path}#${CARD}` };
    const isFirst = typeof object.previous !== 'string';
    const teams = isFirst ? await this.teamRows(subject, actor, form) : [];
    const shown = new Set(teams.map(({ url }) => url));
    const users = object.results.map((user) => userRow(user, subject, { form, shown }));
    return panelCard(
      CARD,
      'Users and teams with access',
      html`${holdersTable([...teams, ...users])} ${refusalView(context.refusal, CARD)}
      ${await this.grantForm(subject, context, form)}`,
    );
  }

  /** Returns the readable teams that hold roles of the object, at most 200, also teams without members. */
  private async teamRows(
    { definition, id }: Subject,
    actor: Actor,
    form: Pick<PanelForm, 'csrf' | 'returnTo'>,
  ): Promise<AccessRow[]> {
    if (definition.roles.length === 0) return [];
    const grants = await this.teams.grantsOn(definition.type, id);
    if (grants.length === 0) return [];
    const ids = [...new Set(grants.map(({ team_id: team }) => team))].join(',');
    const query = { id__in: ids, order_by: 'name', page_size: '200' };
    const teams = await this.source.list(resource('team'), query, actor);
    const manageable = await this.grants.manageable(
      grants.map(({ role_id: role }) => role),
      actor,
    );
    return teams.map((team) => {
      const holder = { kind: 'teams', id: Number(team.id), name: objectTitleOf(team) } as const;
      const teamGrants = grants.filter(({ team_id: granted }) => granted === team.id);
      return {
        name: holder.name,
        url: String(team.url),
        kind: 'team',
        grants: teamGrants.map(({ role_id: role, role_field: field }) => {
          const title = describeRole(definition.type, definition.label, field).name;
          return {
            role: title,
            reason: 'granted directly',
            revoke: manageable.has(role) && revokeButton(holder, { id: role, title }, form),
          };
        }),
      };
    });
  }

  /** Returns the object of a URL, which contains its id or its natural key. */
  private async subjectOf(path: string, actor: Actor): Promise<Subject> {
    const [collection, key = ''] = path.split('/').filter(Boolean).slice(-3);
    const [type = ''] = Object.entries(TYPES).find(([, path]) => path === collection) ?? [];
    const definition = resource(type);
    return { definition, id: await this.source.idOf(definition, decodeURIComponent(key), actor) };
  }

  private async grantForm(
    { definition, id }: Subject,
    { actor, path, initialValues, refusal }: PanelContext,
    form: Pick<PanelForm, 'csrf' | 'returnTo'>,
  ): Promise<HtmlValue> {
    if (definition.roles.length === 0) return null;
    const query = { content_type: definition.type, object_id: String(id), order_by: 'id' };
    const roles = await this.source.list(resource('role'), query, actor);
    const manageable = await this.grants.manageable(
      roles.map((role) => Number(role.id)),
      actor,
    );
    const grantable = roles.filter((role) => manageable.has(Number(role.id)));
    if (grantable.length === 0) return null;
    const search = initialValues[SEARCH] ?? '';
    const max = { search, page_size: String(MAX_OPTIONS) };
    const users = await this.source.list(resource('user'), { ...max, order_by: 'username' }, actor);
    const teams = await this.source.list(resource('team'), { ...max, order_by: 'name' }, actor);
    const hasMore = search !== '' || users.length === MAX_OPTIONS || teams.length === MAX_OPTIONS;
    return html`<h3>Grant</h3>
      ${panelForm(
        { ...form, action: ROLES, errorsInCard: true },
        html`<div class="field">
            <label for="grant-role">Role</label>
            <select id="grant-role" name="id" required>
              <option value="">---------</option>
              ${grantable.map(
                (role) =>
                  html`<option
                    value="${String(role.id)}"
                    ${attributes({ selected: String(role.id) === refusal?.chosen })}
                  >
                    ${objectTitleOf(role)}: ${String(role.description)}
                  </option>`,
              )}
            </select>
          </div>
          ${holderSelect(users, teams, refusal)}
          <button class="primary">Grant</button>`,
      )}
      ${hasMore && searchForm(path, CARD, search)}`;
  }
}

interface UserParts {
  form: Pick<PanelForm, 'csrf' | 'returnTo'>;
  /** URLs of the teams that the table already lists. */
  shown: ReadonlySet<string>;
}

function userRow(user: ShownUser, subject: Subject, parts: UserParts): AccessRow {
  const { direct_access: direct, indirect_access: indirect } = user.summary_fields;
  const { username: name, url } = user;
  return {
    name,
    url,
    kind: 'user',
    grants: [
      ...direct.map((entry) => grantOf(entry, { user, subject, isDirect: true, ...parts })),
      ...indirect.map((entry) => grantOf(entry, { user, subject, isDirect: false, ...parts })),
    ],
  };
}

interface EntryParts extends UserParts {
  user: ShownUser;
  subject: Subject;
  /** True if the role belongs to the object itself. */
  isDirect: boolean;
}

function grantOf(entry: AccessEntry, { user, subject, isDirect, form, shown }: EntryParts): Grant {
  const { role, descendant_roles: implied } = entry;
  const { definition } = subject;
  const roleOnObject = isDirect ? role.name : `${role.name} of ${objectText(entry)}`;
  const team = role.team_id === undefined ? null : teamOf(role.team_id, role.team_name);
  const isListedTeam = team !== null && isDirect && shown.has(team.url);
  const holder =
    team === null
      ? ({ kind: 'users', id: user.id, name: user.username } as const)
      : ({ kind: 'teams', id: team.id, name: team.name } as const);
  const label = isDirect ? 'Revoke' : `Revoke ${roleOnObject}`;
  return {
    role: isDirect ? role.name : strongest(definition, implied).join(', ') || role.name,
    reason: html`${isDirect ? (team ? '' : 'granted directly') : objectLink(entry)}${
      team && html`${!isDirect && ', '}by team <a href="${team.url}">${team.name}</a>`
    }`,
    revoke:
      role.id !== null &&
      role.user_capabilities.unattach &&
      !isListedTeam &&
      revokeButton(
        holder,
        { id: role.id, title: roleOnObject },
        form,
        team ? `${label} from the team` : label,
      ),
  };
}

const teamOf = (id: number, name = 'a team that you cannot read') => ({
  id,
  name,
  url: resource('team').url(id),
});

/** Returns text such as "organization Home", or a placeholder for an object without a name. */
function objectText({ role }: AccessEntry): string {
  if (role.resource_type === undefined) return 'the system';
  const kind = findResource(role.resource_type)?.label.toLowerCase() ?? 'object';
  return role.resource_name ? `${kind} ${role.resource_name}` : `${kind} that you cannot read`;
}

function objectLink(entry: AccessEntry): Html {
  const { name, related = {}, resource_name: object } = entry.role;
  if (entry.role.id === null) return html`${name}`;
  const [url] = Object.values(related);
  return html`${name} of
  ${object && url ? html`<a href="${url}access_list/">${objectText(entry)}</a>` : objectText(entry)}`;
}

/** Returns the names of the implied roles that no other implied role implies. */
function strongest({ type, label, roles }: ResourceDefinition, implied: readonly string[]) {
  return roles
    .filter(({ field, impliedBy = [] }) => {
      return implied.includes(field) && !impliedBy.some((other) => implied.includes(other));
    })
    .map(({ field }) => describeRole(type, label, field).name);
}

const holdersTable = (holders: readonly AccessRow[]): Html =>
  groupedTable(
    'Access by user and team',
    ['User or team', 'Role', 'Reason', ACTIONS_HEADING],
    holders.map(holderRows),
  );

const holderRows = ({ name, url, kind, grants }: AccessRow): Html =>
  html`<tbody>
    ${grants.map(
      ({ role, reason, revoke }, index) =>
        html`<tr>
          ${
            index === 0 &&
            html`<th scope="rowgroup" rowspan="${grants.length}">
              <a href="${url}">${name}</a> <small>${kind}</small>
            </th>`
          }
          <td data-label="Role">${role}</td>
          <td data-label="Reason">${reason}</td>
          <td class="end">${revoke}</td>
        </tr>`,
    )}
  </tbody>`;
