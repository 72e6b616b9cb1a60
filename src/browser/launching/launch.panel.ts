import { Injectable } from '@nestjs/common';
import { html, type Html, type HtmlValue } from '../shared/html.js';
import { canPrompt } from '../shared/list-actions.service.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/panels.service.js';
import { panelButton } from '../shared/panel-forms.js';
import type { Item } from '../shared/value-views.js';

interface ShownTemplate extends Item {
  type: string;
  url: string;
  survey_enabled?: boolean;
  project?: number | null;
  inventory?: number | null;
  ask_inventory_on_launch?: boolean;
  summary_fields: { user_capabilities?: { start?: boolean; edit?: boolean }; survey?: object };
}

/** Renders the buttons for launch and survey of a template, or the reasons why a launch would be refused. */
@Injectable()
@PagePanel('job_template', 'workflow_job_template')
export class LaunchPanel implements Panel<ShownTemplate> {
  readonly isFirst = true;

  render({ object: template, csrf }: PanelContext<ShownTemplate>): Html | null {
    const reasons = obstacles(template);
    if (reasons.length > 0) {
      return html`<section class="message warn" aria-label="Launch">
        <p>The template cannot be launched:</p>
        <ul>
          ${reasons.map((reason) => html`<li>${reason}</li>`)}
        </ul>
      </section>`;
    }
    return html`<div class="actions">
      ${enableSurveyButton(template, csrf)} ${launchButton(template, csrf)} ${surveyLink(template)}
    </div>`;
  }
}

/** Returns the reasons why a launch would be refused, as far as the template shows them. */
function obstacles(template: ShownTemplate): string[] {
  const { type, project, inventory, ask_inventory_on_launch: asks, summary_fields } = template;
  const isJob = type === 'job_template';
  return [
    ...(isJob && project === null ? ['The template has no project.'] : []),
    ...(isJob && inventory === null && asks !== true
      ? ['The template has no inventory and does not prompt for an inventory.']
      : []),
    ...(summary_fields.user_capabilities?.start === true
      ? []
      : ['You need the Execute role. An administrator of the template can grant this role.']),
  ];
}

/** Returns true for a template with a survey that is not enabled. */
const isSurveyOff = ({ survey_enabled: isEnabled, summary_fields: { survey } }: ShownTemplate) =>
  survey !== undefined && isEnabled === false;

/** Renders the button that enables a survey. A new survey is disabled by default. */
const enableSurveyButton = (template: ShownTemplate, csrf: string): HtmlValue =>
  isSurveyOff(template) &&
  template.summary_fields.user_capabilities?.edit === true &&
  panelButton(
    { action: template.url, csrf, method: 'PATCH', fields: { survey_enabled: true } },
    'Enable survey',
    'button primary',
  );

/** Renders a link to the survey for callers who may change the template. */
const surveyLink = ({
  url,
  summary_fields: { survey, user_capabilities: capabilities },
}: ShownTemplate) =>
  capabilities?.edit === true &&
  html`<a class="button" href="${url}survey_spec/#form-post"
    >${survey === undefined ? 'Add survey' : 'Edit survey'}</a
  >`;

/** Renders a link to the launch form, or a button that launches a template without prompts. */
function launchButton(template: ShownTemplate, csrf: string): Html {
  const url = `${template.url}launch/`;
  if (canPrompt(template)) {
    return html`<a class="button primary" href="${url}#form-post">Launch…</a>`;
  }
  return isSurveyOff(template)
    ? panelButton({ action: url, csrf }, 'Launch without survey', 'button')
    : panelButton({ action: url, csrf }, 'Launch', 'button primary');
}
