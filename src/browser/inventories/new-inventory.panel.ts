import { Injectable } from '@nestjs/common';
import { constructedInventories } from '../../inventory-sources/constructed-inventories.resource.js';
import { html, type Html } from '../shared/html.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { formUrl, PRESET } from '../shared/form-parameters.js';

const CONSTRUCTED = `/api/v2/${constructedInventories.path}/`;

/** Renders links to the forms for a new inventory of each kind. */
@Injectable()
@PagePanel('inventories_list')
export class NewInventoryPanel implements Panel {
  constructor(private readonly source: PanelSource) {}

  async render({ path, actor }: PanelContext): Promise<Html | null> {
    const { body: mayAdd } = await this.source.openParts(path, actor);
    if (!mayAdd) return null;
    return html`<div class="actions">
      <a class="button" href="${formUrl(path, 'post')}">New inventory</a>
      <a class="button" href="${path}?${PRESET}kind=smart">New smart inventory</a>
      <a class="button" href="${formUrl(CONSTRUCTED, 'post')}">New constructed inventory</a>
    </div>`;
  }
}
