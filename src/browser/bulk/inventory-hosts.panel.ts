import { Injectable } from '@nestjs/common';
import { checkBoxes } from '../shared/form-fields.js';
import { hiddenInput, html, type Html, type HtmlValue } from '../shared/html.js';
import { folded } from '../shared/layout.js';
import { panelCard, panelForm, panelTextInput } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { objectTitleOf, type Item } from '../shared/value-views.js';
import { groups as groupResource, hosts } from '../../inventories/inventories.resource.js';
import { FIELD_NAMES, GROUPS_HELP, LINES_HELP } from './hosts.form.js';

interface ShownInventory {
  id: number;
  url: string;
  kind: string;
  total_hosts: number;
  total_groups: number;
  summary_fields: { user_capabilities?: { edit?: boolean } };
}

const ACTION = '/api/v2/bulk/host_create/';
/** Maximum number of hosts, and of groups, on the page; the lists of the API are complete. */
const LIMIT = 50;

/** Renders forms that add hosts to an inventory and put existing hosts into groups. */
@Injectable()
@PagePanel('inventory')
export class InventoryHostsPanel implements Panel<ShownInventory> {
  constructor(private readonly source: PanelSource) {}

  async render({ object, actor, csrf }: PanelContext<ShownInventory>): Promise<Html | null> {
    const { id, url, kind, summary_fields: summary } = object;
    if (kind !== '' || summary.user_capabilities?.edit !== true) return null;
    const query = { inventory: String(id), order_by: 'name', page_size: String(LIMIT) };
    const known = await this.source.list(hosts, query, actor);
    const groups = await this.source.list(groupResource, query, actor);
    const form = { action: ACTION, csrf, returnTo: `${url}#hosts`, kind: 'grid' };
    return panelCard(
      'hosts',
      'Hosts and groups',
      html`${counts(object)}
      ${folded('Add hosts', panelForm(form, html`${hiddenInput('inventory', id)} ${newHosts}`), {
        kind: 'plain section',
        open: known.length === 0,
      })}
      ${
        known.length > 0 &&
        folded(
          'Add hosts to a group',
          panelForm(
            form,
            html`${hiddenInput('inventory', id)} ${groupFields(object, known, groups)}`,
          ),
          { kind: 'plain section', open: groups.length === 0 },
        )
      }
      ${groups.length > 0 && groupList(groups)}`,
    );
  }
}

const counts = ({ url, total_hosts: hostCount, total_groups: groupCount }: ShownInventory): Html =>
  html`<p>
    <a href="${url}hosts/">${hostCount === 1 ? 'One host' : `${hostCount} hosts`}</a>,
    <a href="${url}groups/">${groupCount === 1 ? 'one group' : `${groupCount} groups`}</a>
  </p>`;

const newHosts = html`<div class="field span">
    <label for="host-lines">Hosts</label>
    <textarea
      id="host-lines"
      name="${FIELD_NAMES.lines}"
      rows="4"
      class="code"
      spellcheck="false"
      required
      aria-describedby="host-lines-help"
    ></textarea>
    <p class="hint" id="host-lines-help">${LINES_HELP}</p>
  </div>
  ${panelTextInput({ id: 'host-groups', name: FIELD_NAMES.groups, label: 'Groups' }, { 'aria-describedby': 'host-groups-help' })}
  <p class="hint span" id="host-groups-help">${GROUPS_HELP}</p>
  <div class="actions span"><button class="primary">Add hosts</button></div>`;

function groupFields(
  { total_hosts: total }: ShownInventory,
  known: readonly Item[],
  groups: readonly Item[],
): HtmlValue {
  const names = known.map(({ name }) => [String(name), String(name)] as const);
  return html`${panelTextInput(
      { id: 'group-name', name: FIELD_NAMES.groups, label: 'Group' },
      { required: true, list: 'group-names' },
    )}
    <datalist id="group-names">
      ${groups.map((group) => html`<option value="${objectTitleOf(group)}"></option>`)}
    </datalist>
    <fieldset class="field checks span" id="group-members">
      <legend>Members</legend>
      ${checkBoxes(FIELD_NAMES.members, 'group-members', names)}
      ${
        total > names.length &&
        html`<p class="hint">
          These are the first ${names.length} of ${total} hosts. Add other hosts on the page of the
          group.
        </p>`
      }
    </fieldset>
    <div class="actions span"><button class="primary">Add to the group</button></div>`;
}

const groupList = (groups: readonly Item[]): Html =>
  html`<h3>Groups</h3>
    <ul class="held">
      ${groups.map((group) => html`<li><a href="${String(group.url)}">${objectTitleOf(group)}</a></li>`)}
    </ul>`;
