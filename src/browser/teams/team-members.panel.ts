import { Injectable } from '@nestjs/common';
import { usersGranted } from '../../access/role-members.repository.js';
import { rolesOf } from '../../access/roles.repository.js';
import { SECRET_FIELD } from '../shared/browser-form.js';
import { hiddenInput, html, type Html } from '../shared/html.js';
import {
  listedItem,
  objectSelect,
  panelCard,
  panelForm,
  panelTextInput,
  type PanelForm,
} from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { ReferenceLists } from '../../common/rest/reference-lists.service.js';
import { refusalView } from '../shared/refusal.js';
import { resource } from '../../common/resource/define-resource.js';
import { sql } from '../../database/sql.js';

interface ShownTeam {
  id: number;
  url: string;
}

const CARD = 'members';
/** Maximum number of members in the card; the list of the API is complete. */
const LIMIT = 50;

/** Renders the members of a team, and forms that add an existing user or create a user. */
@Injectable()
@PagePanel('team')
export class TeamMembersPanel implements Panel<ShownTeam> {
  readonly isFirst = true;

  constructor(
    private readonly source: PanelSource,
    private readonly references: ReferenceLists,
  ) {}

  async render({ object, actor, csrf, refusal }: PanelContext<ShownTeam>): Promise<Html> {
    const { id, url } = object;
    const users = resource('user');
    const query = { page_size: String(LIMIT), order_by: 'username' };
    const members = await this.source.list(users, query, actor, {
      scope: sql`t.id IN (${usersGranted(rolesOf('team', [id], 'member_role'))})`,
    });
    const list = `${url}users/`;
    const open = await this.source.openParts(list, actor);
    const form = { action: list, csrf, returnTo: `${url}#${CARD}` };
    const listForm = { ...form, errorsInCard: true };
    const others = open.attach && (await this.references.load(users, 'read', [], actor));
    const choice = {
      id: 'member',
      name: 'id',
      label: 'Existing user',
      list: '/api/v2/users/',
    };
    return panelCard(
      CARD,
      'Members',
      html`${members.length === 0 && html`<p class="hint">No members that you can read.</p>`}
        <ul class="held people">
          ${members.map((member) => listedItem(member, open.attach ? listForm : null, 'quiet small'))}
        </ul>
        ${members.length === LIMIT && html`<p>The first ${LIMIT}, by name. <a href="${list}?order_by=username">All members</a></p>`}
        ${refusalView(refusal, CARD)}
        ${others && panelForm(listForm, html`${objectSelect(choice, others)}<button>Add</button>`)}
        ${open.body && newUserForm(form)}`,
    );
  }
}

function newUserForm(form: PanelForm): Html {
  const name = { id: 'new-member', name: 'username', label: 'New user' };
  const password = { id: 'new-member-password', name: 'password', label: 'Password' };
  const secret = { type: 'password', maxlength: 128, autocomplete: 'new-password' };
  return panelForm(
    form,
    html`${panelTextInput(name, { required: true, maxlength: 150 })}
      ${panelTextInput(password, secret)} ${hiddenInput(SECRET_FIELD, 'password')}
      <button class="primary">Create and add</button>`,
  );
}
