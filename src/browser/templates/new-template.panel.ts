import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { formUrl } from '../shared/form-parameters.js';

/** Labels and paths of the lists that create templates. */
const LISTS = [
  ['New job template', '/api/v2/job_templates/'],
  ['New workflow', '/api/v2/workflow_job_templates/'],
] as const;

/**
 * Renders links to create a template of each type, which the list of all types does not support.
 */
@Injectable()
@PagePanel('unified_job_templates_list')
export class NewTemplatePanel implements Panel {
  constructor(private readonly source: PanelSource) {}

  async render({ actor }: PanelContext): Promise<Html | null> {
    const open = await Promise.all(
      LISTS.map(async ([, path]) => (await this.source.openParts(path, actor)).body),
    );
    const links = LISTS.filter((_kind, index) => open[index]);
    if (links.length === 0) return null;
    return html`<div class="actions">
      ${links.map(([label, path]) => html`<a class="button" href="${formUrl(path, 'post')}">${label}</a>`)}
    </div>`;
  }
}
