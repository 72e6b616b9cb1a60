import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { panelCard, panelForm, panelTextInput } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { objectTitleOf } from '../shared/value-views.js';
import { resource } from '../../common/resource/define-resource.js';

interface ShownOrganization {
  id: number;
  url: string;
}

/** Maximum number of teams in the card; the list of the API is complete. */
const LIMIT = 50;

/** Renders the teams of an organization, and a form that creates a team. */
@Injectable()
@PagePanel('organization')
export class OrganizationTeamsPanel implements Panel<ShownOrganization> {
  readonly isFirst = true;

  constructor(private readonly source: PanelSource) {}

  async render({ object, actor, csrf }: PanelContext<ShownOrganization>): Promise<Html> {
    const { id, url } = object;
    const list = `${url}teams/`;
    const query = { organization: String(id), order_by: 'name', page_size: String(LIMIT) };
    const teams = await this.source.list(resource('team'), query, actor);
    const { body: mayCreate } = await this.source.openParts(list, actor);
    const name = { id: 'new-team', name: 'name', label: 'Name of the new team' };
    return panelCard(
      'teams',
      'Teams',
      html`${teams.length === 0 && html`<p class="hint">No teams yet.</p>`}
        <ul class="held">
          ${teams.map((team) => html`<li><a href="${String(team.url)}">${objectTitleOf(team)}</a></li>`)}
        </ul>
        ${teams.length === LIMIT && html`<p><a href="${list}">All teams</a></p>`}
        ${
          mayCreate &&
          panelForm(
            { action: list, csrf },
            html`${panelTextInput(name, { required: true, maxlength: 512 })}
              <button class="primary">Create team</button>`,
          )
        }
        <p><a href="${url}access_list/">Access</a></p>`,
    );
  }
}
