import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { labelOf } from '../../common/fields/label.js';
import { resource } from '../../common/resource/define-resource.js';
import { html, type Html } from '../shared/html.js';
import { panelCard } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { objectTitleOf, type Item } from '../shared/value-views.js';

interface UsedObject {
  id: number;
  type: string;
}

/** Maximum number of objects of each type in the card; the lists of the API are complete. */
const LIMIT = 10;

const NOTIFICATION_FILTERS = [
  'notification_templates_started',
  'notification_templates_success',
  'notification_templates_error',
  'notification_templates_approvals',
];

/** Types that can use an object, by the type of the object, and the filters that find the uses. */
const USES: Readonly<Record<string, readonly (readonly [type: string, filters: string[]])[]>> = {
  credential: [
    ['job_template', ['credentials', 'webhook_credential']],
    ['workflow_job_template', ['webhook_credential']],
    ['project', ['credential', 'signature_validation_credential', 'webhook_credential']],
    ['inventory_source', ['credential']],
    ['execution_environment', ['credential']],
    ['organization', ['galaxy_credentials']],
    ['instance_group', ['credential']],
    ['credential_input_source', ['source_credential']],
    ['schedule', ['credentials']],
    ['workflow_job_template_node', ['credentials']],
  ],
  inventory: [
    ['job_template', ['inventory']],
    ['workflow_job_template', ['inventory']],
    ['inventory', ['input_inventories']],
    ['schedule', ['inventory']],
    ['workflow_job_template_node', ['inventory']],
  ],
  project: [
    ['job_template', ['project']],
    ['inventory_source', ['source_project']],
  ],
  notification_template: [
    ['unified_job_template', NOTIFICATION_FILTERS],
    ['organization', NOTIFICATION_FILTERS],
  ],
};

/** Lists the objects that use an object, on its page and on the confirmation page of its deletion. */
@Injectable()
@PagePanel(...Object.keys(USES).flatMap((type) => [type, `${type}_delete`]))
export class UsedByPanel implements Panel<UsedObject> {
  constructor(private readonly source: PanelSource) {}

  async render({ object, actor }: PanelContext<UsedObject>): Promise<Html> {
    const lists: Html[] = [];
    for (const [type, filters] of USES[object.type] ?? []) {
      const list = await this.list(type, filters, object.id, actor);
      if (list) lists.push(list);
    }
    return panelCard(
      'used-by',
      'Used by',
      lists.length === 0 ? html`<p class="hint">No uses that you can read.</p>` : lists,
    );
  }

  private async list(
    type: string,
    filters: readonly string[],
    id: number,
    actor: Actor,
  ): Promise<Html | null> {
    const definition = resource(type);
    const [only] = filters.length === 1 ? filters : [];
    const query = Object.fromEntries(
      filters.map((name) => [only === undefined ? `or__${name}` : name, String(id)]),
    );
    const found = await this.source.list(definition, { ...query, page_size: `${LIMIT}` }, actor);
    if (found.length === 0) return null;
    const all = `/api/v2/${definition.path}/?${String(new URLSearchParams(query))}`;
    return html`<ul class="held">
        ${found.map(usingObject)}
      </ul>
      ${found.length === LIMIT && html`<p><a href="${all}">Show all</a></p>`}`;
  }
}

const usingObject = (item: Item): Html =>
  html`<li>
    <a href="${String(item.url)}">${objectTitleOf(item)}</a>
    <small>${labelOf(String(item.type))}</small>
  </li>`;
