import { Injectable } from '@nestjs/common';
import { UpdateCauses } from '../runs/update-causes.service.js';
import { PRESET } from '../shared/form-parameters.js';
import { html, type Html } from '../shared/html.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { panelButton } from '../shared/panel-forms.js';

interface ShownProject {
  id: number;
  url: string;
  status: string;
  scm_type: string;
  summary_fields: { user_capabilities?: { start?: boolean } };
}

const JOB_TEMPLATES = '/api/v2/job_templates/';
/** Statuses of a project whose playbooks can run. */
const RUNNABLE_STATUSES: ReadonlySet<string> = new Set(['ok', 'successful']);

/**
 * Renders a sync button for a project with a source, the cause of a failed last sync, and a link to
 * a new job template.
 */
@Injectable()
@PagePanel('project')
export class ProjectPanel implements Panel<ShownProject> {
  readonly isFirst = true;

  constructor(
    private readonly source: PanelSource,
    private readonly causes: UpdateCauses,
  ) {}

  async render({ object, actor, csrf }: PanelContext<ShownProject>): Promise<Html> {
    const { id, url, status, scm_type: scmType, summary_fields: summary } = object;
    const canSync = scmType !== '' && summary.user_capabilities?.start === true;
    const isRunnable =
      RUNNABLE_STATUSES.has(status) && (await this.source.openParts(JOB_TEMPLATES, actor)).body;
    return html`${await this.causes.render('project_update', object, actor)}
      <div class="actions">
        ${canSync && panelButton({ action: `${url}update/`, csrf }, 'Sync', 'button primary')}
        ${
          isRunnable &&
          html`<a class="button" href="${JOB_TEMPLATES}?${PRESET}project=${id}"
            >New job template</a
          >`
        }
      </div>`;
  }
}
