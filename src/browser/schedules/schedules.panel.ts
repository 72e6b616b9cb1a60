import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { panelButton, panelCard } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { formUrl } from '../shared/form-parameters.js';
import { hasCapability } from '../shared/list-actions.service.js';
import { timeView, objectTitleOf, type Item } from '../shared/value-views.js';
import { LAUNCHABLE_TYPES } from '../../schedules/schedule.hooks.js';
import { schedules } from '../../schedules/schedules.resource.js';
import { readRule, describeRule } from './rule-parts.js';

interface ShownTemplate {
  id: number;
  url: string;
}

/** Maximum number of schedules on the page; the list of the API is complete. */
const LIMIT = 10;

/** Renders the schedules of a template, and a link to create a schedule. */
@Injectable()
@PagePanel(...LAUNCHABLE_TYPES)
export class SchedulesPanel implements Panel<ShownTemplate> {
  constructor(private readonly source: PanelSource) {}

  async render({ object, actor, csrf }: PanelContext<ShownTemplate>): Promise<Html | null> {
    const { id, url } = object;
    const list = `${url}schedules/`;
    const { body: mayAdd } = await this.source.openParts(list, actor);
    const query = {
      unified_job_template: String(id),
      order_by: 'next_run',
      page_size: String(LIMIT),
    };
    const found = await this.source.list(schedules, query, actor);
    if (!mayAdd && found.length === 0) return null;
    const back = { csrf, returnTo: `${url}#schedules` };
    return panelCard(
      'schedules',
      'Schedules',
      html`<div class="actions">
          ${mayAdd && html`<a class="button" href="${formUrl(list, 'post')}">New schedule</a>`}
          ${found.length === LIMIT && html`<a class="button" href="${list}">All schedules</a>`}
        </div>
        ${
          found.length === 0
            ? html`<p class="hint">No schedules yet.</p>`
            : html`<ul class="held">
                ${found.map((schedule) => scheduleItem(schedule, back))}
              </ul>`
        }`,
    );
  }
}

function scheduleItem(schedule: Item, back: { csrf: string; returnTo: string }): Html {
  const { url, rrule, enabled, next_run: next } = schedule;
  const parts = readRule(String(rrule));
  const label = enabled === true ? 'Disable' : 'Enable';
  const title = objectTitleOf(schedule);
  return html`<li>
    <a href="${String(url)}">${title}</a>
    ${parts ? html`<span>${describeRule(parts)}</span>` : html`<code>${String(rrule)}</code>`}
    <small
      >${
        enabled !== true
          ? 'disabled'
          : typeof next === 'string'
            ? html`next ${timeView(next)}`
            : 'ended'
      }</small
    >
    ${
      hasCapability(schedule, 'edit') &&
      panelButton(
        { ...back, action: String(url), method: 'PATCH', fields: { enabled: enabled !== true } },
        html`${label}<span class="hidden"> ${title}</span>`,
      )
    }
  </li>`;
}
