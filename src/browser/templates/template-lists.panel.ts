import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { relationCondition } from '../../common/resource/relation-condition.js';
import { resource } from '../../common/resource/define-resource.js';
import { ReferenceLists, type ReferenceList } from '../../common/rest/reference-lists.service.js';
import { sql } from '../../database/sql.js';
import { hiddenInput, html, type Html, type HtmlValue } from '../shared/html.js';
import { scrollTable } from '../shared/layout.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import {
  listedItem,
  objectSelect,
  panelCard,
  panelForm,
  panelTextInput,
  type PanelForm,
} from '../shared/panel-forms.js';
import type { Item } from '../shared/value-views.js';

interface ShownTemplate {
  id: number;
  type: string;
  url: string;
  organization: number | null;
}

/** Shows the credentials and labels of a template, with forms that add and remove them. */
@Injectable()
@PagePanel('job_template', 'workflow_job_template')
export class TemplateListsPanel implements Panel<ShownTemplate> {
  constructor(
    private readonly source: PanelSource,
    private readonly references: ReferenceLists,
  ) {}

  async render(context: PanelContext<ShownTemplate>): Promise<Html | null> {
    const { object, csrf, actor } = context;
    const returnTo = `${object.url}#attached`;
    const rows: Html[] = [];
    for (const name of ['credentials', 'labels']) {
      const relation = resource(object.type).relations[name];
      if (!relation) continue;
      const target = relation.target();
      const scope = relationCondition(relation, sql`${object.id}`, 't');
      const listed = await this.source.list(target, { page_size: '100' }, actor, { scope });
      const action = `${object.url}${name}/`;
      const { attach, body } = await this.source.openParts(action, actor);
      const form = { action, csrf, returnTo };
      const add =
        name === 'labels'
          ? body && labelForm(form, object.organization)
          : attach && credentialForm(form, await this.unlisted(listed, actor));
      rows.push(listRow(target.path, listed, attach ? { ...form, kind: 'inline' } : null, add));
    }
    return panelCard(
      'attached',
      rows.length > 1 ? 'Credentials and labels' : 'Labels',
      scrollTable('Lists of the template', [], rows),
    );
  }

  /** Returns the credentials that the caller may use and that are not listed. */
  private async unlisted(listed: readonly Item[], actor: Actor): Promise<ReferenceList> {
    const choices = await this.references.load(resource('credential'), 'use', [], actor);
    const known = new Set(listed.map(({ id }) => String(id)));
    return { ...choices, options: choices.options.filter(([id]) => !known.has(id)) };
  }
}

const HEADINGS: Readonly<Record<string, string>> = { credentials: 'Credentials', labels: 'Labels' };

const listRow = (
  path: string,
  listed: readonly Item[],
  form: PanelForm | null,
  add: HtmlValue,
): Html =>
  html`<tr>
    <th scope="row">${HEADINGS[path]}</th>
    <td>
      ${listed.length === 0 && html`<span class="none">No ${path}</span>`}
      <ul class="held">
        ${listed.map((item) => listedItem(item, form))}
      </ul>
    </td>
    <td>${add}</td>
  </tr>`;

const credentialForm = (form: PanelForm, choices: ReferenceList): HtmlValue =>
  (choices.hasMore || choices.options.length > 0) &&
  panelForm(
    form,
    html`${objectSelect({ id: 'add-credential', name: 'id', label: 'Credential', list: '/api/v2/credentials/' }, choices)}
      <button>Add credential</button>`,
  );

const labelForm = (form: PanelForm, organization: number | null): HtmlValue =>
  organization !== null &&
  panelForm(
    form,
    html`${hiddenInput('organization', organization)}
      ${panelTextInput({ id: 'add-label', name: 'name', label: 'Label' }, { required: true })}
      <button>Add label</button>`,
  );
