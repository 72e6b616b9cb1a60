import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { scrollTable } from '../shared/layout.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { panelCard } from '../shared/panel-forms.js';
import { valueView, type Item } from '../shared/value-views.js';
import { WebhookCauses } from '../shared/webhook-causes.service.js';
import { labelIn } from '../shared/labels.js';
import { resource, type ResourceDefinition } from '../../common/resource/define-resource.js';

/** Maximum number of runs in the card; the API list is complete. */
const MAX = 5;
const COLUMNS = ['status', 'started', 'elapsed', 'launched_by'] as const;

@Injectable()
@PagePanel('job_template', 'workflow_job_template')
export class LastRunsPanel implements Panel<{ id: number }> {
  constructor(
    private readonly source: PanelSource,
    private readonly causes: WebhookCauses,
  ) {}

  async render({ object: { id }, actor }: PanelContext<{ id: number }>): Promise<Html> {
    const runs = resource('unified_job');
    const query = { unified_job_template: String(id), order_by: '-id' };
    const last = await this.causes.withEventNames(
      await this.source.list(runs, { ...query, page_size: String(MAX) }, actor),
    );
    const all = `/api/v2/${runs.path}/?${String(new URLSearchParams(query))}`;
    return panelCard(
      'last-runs',
      'Last runs',
      last.length === 0
        ? html`<p class="hint">No runs yet.</p>`
        : html`${runTable(last, runs)}
            <p><a href="${all}">All runs</a></p>`,
    );
  }
}

const runTable = (last: readonly Item[], runs: ResourceDefinition): Html =>
  scrollTable(
    'Runs of the template',
    ['Run', ...COLUMNS.map((name) => labelIn(runs, name))],
    last.map(
      (run) =>
        html`<tr>
          <th scope="row"><a href="${String(run.url)}">#${String(run.id)}</a></th>
          ${COLUMNS.map(
            (name) =>
              html`<td data-label="${labelIn(runs, name)}">${valueView(name, run, runs)}</td>`,
          )}
        </tr>`,
    ),
  );
