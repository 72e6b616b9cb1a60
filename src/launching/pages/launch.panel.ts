import { Injectable } from '@nestjs/common';
import { html, type Html } from '../../common/pages/html.js';
import { csrfInput } from '../../common/pages/layout.js';
import {
  PagePanel,
  type Panel,
  type PanelContext,
} from '../../common/pages/page-panels.service.js';

interface ShownTemplate {
  url: string;
  survey_enabled?: boolean;
  summary_fields: { user_capabilities?: { start?: boolean } };
}

/** The way from a template to its next run. */
@Injectable()
@PagePanel('job_template', 'workflow_job_template')
export class LaunchPanel implements Panel<ShownTemplate> {
  render({ object: template, csrf }: PanelContext<ShownTemplate>): Html | null {
    if (template.summary_fields.user_capabilities?.start !== true) return null;
    const url = `${template.url}launch/`;
    return html`<div class="actions">
      ${asksSomething(template) ? link(url) : form(url, csrf)}
    </div>`;
  }
}

/** Whether a person may want to say something first; a template that needs it says so anyway. */
const asksSomething = (object: PanelContext['object']): boolean =>
  object.survey_enabled === true ||
  Object.entries(object).some(
    ([name, value]) => /^ask_\w+_on_launch$/.test(name) && value === true,
  );

const link = (url: string): Html =>
  html`<a class="button primary" href="${url}#form-post">Launch…</a>`;

const form = (url: string, csrf: string): Html =>
  html`<form method="post" action="${url}">
    ${csrfInput(csrf)}<button class="button primary">Launch</button>
  </form>`;
