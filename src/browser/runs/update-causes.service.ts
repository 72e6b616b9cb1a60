import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { memberOf } from '../../common/records.js';
import { resource } from '../../common/resource/define-resource.js';
import { RunOutputsRepository } from '../../runs/output/run-outputs.repository.js';
import { html, type HtmlValue } from '../shared/html.js';
import { PanelSource } from '../shared/panels.service.js';
import type { Item } from '../shared/value-views.js';
import { causeView } from './run-cause.js';

const FAILED: ReadonlySet<unknown> = new Set(['failed', 'error']);
/** Maximum number of failures on the page; the page of the update shows more. */
const MAX_FAILURES = 3;

/** Shows why the last update of a project or of an inventory source failed. */
@Injectable()
export class UpdateCauses {
  constructor(
    private readonly source: PanelSource,
    private readonly outputs: RunOutputsRepository,
  ) {}

  /** Renders the cause; null if the last update did not fail, or if the object has no link to this update. */
  async render(
    type: 'inventory_update' | 'project_update',
    { related, status }: Item,
    actor: Actor,
  ): Promise<HtmlValue> {
    const url = memberOf(related, 'last_update');
    const [, id] = /\/(\d+)\/$/.exec(typeof url === 'string' ? url : '') ?? [];
    if (!FAILED.has(status) || id === undefined) return null;
    const update = await this.source.object(resource(type), Number(id), actor);
    const failures = await this.outputs.failures(Number(id), MAX_FAILURES);
    const text = (name: string): string => String(update[name] ?? '');
    const run = {
      url: text('url'),
      status: text('status'),
      job_explanation: text('job_explanation'),
      result_traceback: text('result_traceback'),
    };
    return html`${causeView(run, failures, `${run.url}events/`)}
      <p><a href="${run.url}">Output of the failed update</a></p>`;
  }
}
