import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { panelButton } from '../shared/panel-forms.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/page-panels.service.js';
import { lastUpdate } from './last-update.js';

interface ShownSource {
  url: string;
  summary_fields: { user_capabilities?: { start?: boolean } };
}

/** Renders the update button and the last update. The page heading shows the status. */
@Injectable()
@PagePanel('inventory_source')
export class SourcePanel implements Panel<ShownSource> {
  readonly leads = true;

  render({ object, csrf }: PanelContext<ShownSource>): Html {
    const { url, summary_fields: summary } = object;
    return html`<div class="actions">
      ${
        summary.user_capabilities?.start === true &&
        panelButton({ action: `${url}update/`, csrf }, 'Update now', 'button primary')
      }
      <p class="line">${lastUpdate(object)}</p>
    </div>`;
  }
}
