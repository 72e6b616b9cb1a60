import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../../common/access.js';
import { assetUrl } from '../../common/browsable/assets.js';
import { html, type Html, type HtmlValue } from '../../common/browsable/html.js';
import { csrfInput } from '../../common/browsable/layout.js';
import { PagePanel, type Panel, type PanelContext } from '../../common/browsable/panels.js';
import { resource } from '../../common/resource/registry.js';
import { Database } from '../../database/database.js';
import { ident, sql } from '../../database/sql.js';
import { isFinal } from '../state-machine.js';
import type { JobStatus } from '../unified-job.schema.js';
import { hostSummaries, loadHosts } from './host-summaries.js';
import { loadTail, outputView } from './run-output.js';

/** What the panel needs of the representation of a run. */
interface ShownRun {
  id: number;
  type: string;
  url: string;
  status: string;
  passwords_needed_to_start?: readonly string[];
  summary_fields: { user_capabilities?: { start?: boolean } };
}

/** Output, hosts and buttons of a run; the script keeps them up to date while it is active. */
@Injectable()
@PagePanel('job', 'project_update')
export class RunPanel implements Panel {
  constructor(private readonly database: Database) {}

  async render({ object, actor, csrf }: PanelContext): Promise<Html> {
    const run = object as unknown as ShownRun;
    const isActive = !isFinal(run.status as JobStatus);
    const tail = await loadTail(this.database, run.id);
    const hosts = run.type === 'job' ? await loadHosts(this.database, run.id) : [];
    const mayCancel = isActive && (await this.mayCancel(run, actor));
    return html`<div id="run-actions" class="actions" data-refresh>
        ${mayCancel && actionForm(`${run.url}cancel/`, csrf, CANCEL)}
        ${!isActive && run.type === 'job' && relaunch(run, csrf, hosts.some(hasFailed))}
      </div>
      ${outputView(run, tail, isActive)}
      <div id="run-hosts" data-refresh>${hosts.length > 0 && hostSummaries(run.url, hosts)}</div>
      ${isActive && html`<script src="${assetUrl('live.js')}" defer></script>`}`;
  }

  private async mayCancel({ id, type }: ShownRun, actor: Actor): Promise<boolean> {
    const row = await this.database.row<{ may: boolean }>(sql`
      SELECT (${permit(resource(type).policy, 'cancel', 't', actor)}) AS may
      FROM ${ident('unified_jobs')} t WHERE t.id = ${id}`);
    return row?.may === true;
  }
}

const CANCEL = html`<button class="button danger">Cancel</button>`;

const hasFailed = ({ failures, dark }: { failures: number; dark: number }): boolean =>
  failures + dark > 0;

function relaunch(run: ShownRun, csrf: string, someFailed: boolean): HtmlValue {
  if (run.summary_fields.user_capabilities?.start !== true) return null;
  const url = `${run.url}relaunch/`;
  if ((run.passwords_needed_to_start ?? []).length > 0) {
    return html`<a class="button" href="${url}#form-post">Relaunch…</a>`;
  }
  const failed = html`<input type="hidden" name="hosts" value="failed" />`;
  return [
    actionForm(url, csrf, html`<button class="button">Relaunch</button>`),
    someFailed &&
      actionForm(
        url,
        csrf,
        html`${failed}<button class="button">Relaunch on failed hosts</button>`,
      ),
  ];
}

const actionForm = (url: string, csrf: string, content: Html): Html =>
  html`<form method="post" action="${url}">${csrfInput(csrf)}${content}</form>`;
