import { Injectable } from '@nestjs/common';
import { UpdateCauses } from '../runs/update-causes.service.js';
import { html, type Html } from '../shared/html.js';
import { panelButton } from '../shared/panel-forms.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/panels.service.js';
import { timeView, type Item } from '../shared/value-views.js';
import { isRecord } from '../../common/records.js';

/** Renders the time of the last update, and a link to the output of the current or last update. */
export function lastUpdate({ last_updated: time, related }: Item): Html {
  const links = isRecord(related) ? related : {};
  const output = links.current_update ?? links.last_update;
  return html`${typeof time === 'string' && html`<small>Last update ${timeView(time)}</small>`}
  ${typeof output === 'string' && html`<a href="${output}">Output</a>`}`;
}

interface ShownSource {
  url: string;
  summary_fields: { user_capabilities?: { start?: boolean } };
}

/**
 * Renders the update button, the last update, and the cause of its failure. The page heading shows
 * the status.
 */
@Injectable()
@PagePanel('inventory_source')
export class SourcePanel implements Panel<ShownSource> {
  readonly isFirst = true;

  constructor(private readonly causes: UpdateCauses) {}

  async render({ object, actor, csrf }: PanelContext<ShownSource>): Promise<Html> {
    const { url, summary_fields: summary } = object;
    return html`${await this.causes.render('inventory_update', object, actor)}
      <div class="actions">
        ${
          summary.user_capabilities?.start === true &&
          panelButton({ action: `${url}update/`, csrf }, 'Update now', 'button primary')
        }
        <p class="line">${lastUpdate(object)}</p>
      </div>`;
  }
}
