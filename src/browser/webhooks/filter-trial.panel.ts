import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { csrfInput } from '../shared/layout.js';
import { panelCard } from '../shared/panel-forms.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/page-panels.service.js';
import { statusBadge, timeView, type Item } from '../shared/values.js';
import { isRecord, listOf } from '../../common/records.js';
import { RECEIVER_KINDS } from '../../webhooks/receiver-kinds.js';

interface Trial {
  launches: number;
  count: number;
  results: Item[];
}

export const TRIAL_PATH = 'webhook_filters/test/';

/** Renders a form that tests filters on received deliveries or saves the filters. */
export const trialForm = (templateUrl: string, filters: string, csrf: string): Html =>
  html`<form method="post" action="${templateUrl}${TRIAL_PATH}">
    ${csrfInput(csrf)}
    <div class="field">
      <label for="trial-filters">Filters</label>
      <textarea
        id="trial-filters"
        name="webhook_filters"
        rows="6"
        class="code"
        spellcheck="false"
        data-check="json"
      >
${filters}</textarea>
      <p class="hint">
        Empty: every event launches. For example
        <code>{"events": ["push"], "refs": ["refs/heads/main"]}</code>
      </p>
    </div>
    <div class="actions">
      <button class="primary">Try on what was received</button>
      <button formaction="${templateUrl}" name="_method" value="PATCH">Keep these filters</button>
    </div>
  </form>`;

/** Renders the deliveries that the filters would have launched, and the filter form. */
@Injectable()
@PagePanel(...RECEIVER_KINDS.map(({ type }) => `${type}s_webhook_filters_test`))
export class FilterTrialPanel implements Panel<Trial> {
  render({ object, csrf, path, sent }: PanelContext<Trial>): Html {
    const { launches, count, results } = object;
    const templateUrl = path.slice(0, -TRIAL_PATH.length);
    const given = sent.webhook_filters;
    return html`${panelCard(
        'trial',
        'What these filters do',
        html`<p>
            <strong>${launches} of ${count}</strong> deliveries would have launched.
            <a href="${templateUrl}webhook/">Back to the webhook</a>
          </p>
          ${trialForm(templateUrl, typeof given === 'string' ? given : '', csrf)}`,
      )}
      <div class="scroll" tabindex="0" role="region" aria-label="Deliveries">
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">Received</th>
              <th scope="col">Event</th>
              <th scope="col">Ref</th>
              <th scope="col">Would launch</th>
              <th scope="col">Was</th>
            </tr>
          </thead>
          <tbody>
            ${listOf(results).filter(isRecord).map(resultRow)}
          </tbody>
        </table>
      </div>`;
  }
}

const resultRow = (one: Item): Html =>
  html`<tr>
    <td data-label="Received">
      <a href="/api/v2/webhook_deliveries/${String(one.delivery)}/"
        >${timeView(String(one.received))}</a
      >
    </td>
    <td data-label="Event">${String(one.event)}</td>
    <td data-label="Ref">
      ${typeof one.ref_name === 'string' && html`<code>${one.ref_name}</code>`}
    </td>
    <td data-label="Would launch">
      <span class="badge ${one.launches === true ? 'good' : 'plain'}"
        >${one.launches === true ? 'Yes' : 'No'}</span
      >
      <small>${String(one.reason ?? '')}</small>
    </td>
    <td data-label="Was">${statusBadge(String(one.verdict))}</td>
  </tr>`;
