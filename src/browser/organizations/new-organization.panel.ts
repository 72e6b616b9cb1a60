import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { panelCard, panelForm, panelTextInput } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';

/** Renders a form that creates an organization with only a name; the other fields have defaults. */
@Injectable()
@PagePanel('organizations_list')
export class NewOrganizationPanel implements Panel {
  constructor(private readonly source: PanelSource) {}

  async render({ actor, csrf, path }: PanelContext): Promise<Html | null> {
    if (!(await this.source.openParts(path, actor)).body) return null;
    const name = { id: 'new-organization', name: 'name', label: 'Name of the organization' };
    return panelCard(
      'new',
      'New organization',
      panelForm(
        { action: path, csrf },
        html`${panelTextInput(name, { required: true, maxlength: 512 })}
          <button class="primary">Create</button>`,
      ),
    );
  }
}
