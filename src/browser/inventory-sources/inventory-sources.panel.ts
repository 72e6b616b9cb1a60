import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { panelButton, panelCard } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { formUrl } from '../shared/form-parameters.js';
import { hasCapability } from '../shared/list-actions.service.js';
import { statusBadge, objectTitleOf, type Item } from '../shared/value-views.js';
import { constructedInventories } from '../../inventory-sources/constructed-inventories.resource.js';
import { inventorySources } from '../../inventory-sources/inventory-sources.resource.js';
import { lastUpdate } from './source.panel.js';

interface ShownInventory {
  id: number;
  url: string;
  kind: string;
  related: { inventory_sources: string; input_inventories?: string };
}

/** Maximum number of sources on the page; the list of the API is complete. */
const LIMIT = 20;

/**
 * Renders the sources of an inventory, their last update, and buttons that add or update them; for a
 * constructed inventory also links to its inputs and rules.
 */
@Injectable()
@PagePanel('inventory')
export class InventorySourcesPanel implements Panel<ShownInventory> {
  constructor(private readonly source: PanelSource) {}

  async render({ object, actor, csrf }: PanelContext<ShownInventory>): Promise<Html | null> {
    const { id, url, kind, related } = object;
    if (kind === 'smart') return null;
    const list = related.inventory_sources;
    const { body: mayAdd } = await this.source.openParts(list, actor);
    const query = { inventory: String(id), order_by: 'name', page_size: String(LIMIT) };
    const sources = await this.source.list(inventorySources, query, actor);
    if (!mayAdd && sources.length === 0) return null;
    const mayStart = sources.filter((source) => hasCapability(source, 'start')).length;
    const back = { csrf, returnTo: `${url}#sources` };
    return panelCard(
      'sources',
      'Sources',
      html`<div class="actions">
          ${mayAdd && html`<a class="button" href="${formUrl(list, 'post')}">Add a source</a>`}
          ${
            related.input_inventories !== undefined &&
            html`<a class="button" href="${related.input_inventories}">Inputs</a>
              <a class="button" href="${constructedInventories.url(id)}">Rules</a>`
          }
          ${
            mayStart > 1 &&
            panelButton(
              { ...back, action: `${url}update_inventory_sources/` },
              'Update all',
              'button',
            )
          }
          ${sources.length === LIMIT && html`<a class="button" href="${list}">All sources</a>`}
        </div>
        ${
          sources.length === 0
            ? html`<p class="hint">No sources yet. The hosts are entered manually.</p>`
            : html`<ul class="held">
                ${sources.map((source) => sourceItem(source, csrf))}
              </ul>`
        }`,
    );
  }
}

function sourceItem(source: Item, csrf: string): Html {
  const title = objectTitleOf(source);
  return html`<li>
    <a href="${String(source.url)}">${title}</a>
    <small>${String(source.source)}</small>
    ${statusBadge(String(source.status))} ${lastUpdate(source)}
    ${
      hasCapability(source, 'start') &&
      panelButton(
        { action: `${String(source.url)}update/`, csrf },
        html`Update now<span class="hidden"> from ${title}</span>`,
      )
    }
  </li>`;
}
