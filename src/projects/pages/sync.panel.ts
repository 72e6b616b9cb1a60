import { Injectable } from '@nestjs/common';
import { html, type Html } from '../../common/pages/html.js';
import { csrfInput } from '../../common/pages/layout.js';
import {
  PagePanel,
  type Panel,
  type PanelContext,
} from '../../common/pages/page-panels.service.js';

interface ShownProject {
  url: string;
  scm_type: string;
  summary_fields: { user_capabilities?: { start?: boolean } };
}

/** Syncs a project that has a source. */
@Injectable()
@PagePanel('project')
export class SyncPanel implements Panel<ShownProject> {
  readonly leads = true;

  render({ object, csrf }: PanelContext<ShownProject>): Html | null {
    const { url, scm_type: source, summary_fields: summary } = object;
    if (source === '' || summary.user_capabilities?.start !== true) return null;
    return html`<div class="actions">
      <form method="post" action="${url}update/">
        ${csrfInput(csrf)}<button class="button primary">Sync</button>
      </form>
    </div>`;
  }
}
