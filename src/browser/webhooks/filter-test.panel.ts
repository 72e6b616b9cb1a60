import { Injectable } from '@nestjs/common';
import { formParts } from '../shared/form-sections.js';
import { rowsIn } from '../shared/form-rows.js';
import { METHOD_FIELD } from '../shared/browser-form.js';
import { html, type Html } from '../shared/html.js';
import { csrfInput, scrollTable } from '../shared/layout.js';
import { panelCard } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { statusBadge, timeView, type Item } from '../shared/value-views.js';
import { isRecord, listOf } from '../../common/records.js';
import type { Actor } from '../../common/access.js';
import { existing } from '../../common/invariants.js';
import { resource } from '../../common/resource/define-resource.js';
import { RECEIVER_KINDS } from '../../webhooks/receiver-kinds.js';
import { filterFields } from '../shared/filter-fields.js';

interface FilterTest {
  launches: number;
  count: number;
  results: Item[];
}

const TEST_PATH = 'webhook_filters/test/';

/**
 * Renders a form that tests filters on received deliveries or saves the filters.
 *
 * @param values values of the fields
 */
export const filterTestForm = (
  { url, webhook_service: service }: Item,
  values: Readonly<Record<string, unknown>>,
  csrf: string,
): Html => {
  const templateUrl = String(url);
  const inputs = filterFields(service).map((field) => {
    const id = `test-${field.name}`;
    const entered = field.rows && rowsIn(values, { field, rows: field.rows });
    return { field, id, value: entered ?? values[field.name], errors: [], secret: false };
  });
  return html`<form method="post" action="${templateUrl}${TEST_PATH}" class="grid">
    ${csrfInput(csrf)} ${formParts(inputs)}
    <div class="actions span">
      <button class="primary">Test with received deliveries</button>
      <button formaction="${templateUrl}" name="${METHOD_FIELD}" value="PATCH">Save filters</button>
    </div>
  </form>`;
};

/** Returns the template at a URL, which contains its id or its natural key. */
export function templateAt(source: PanelSource, templateUrl: string, actor: Actor): Promise<Item> {
  const [collection = '', id = ''] = templateUrl.split('/').filter(Boolean).slice(-2);
  const kind = existing(
    RECEIVER_KINDS.find(({ type }) => `${type}s` === collection),
    'the page is below a template with receivers',
  );
  return source.object(resource(kind.type), decodeURIComponent(id), actor);
}

/** Renders the tested deliveries, the effect of the filters on each of them, and the filter form. */
@Injectable()
@PagePanel(...RECEIVER_KINDS.map(({ type }) => `${type}s_webhook_filters_test`))
export class FilterTestPanel implements Panel<FilterTest> {
  constructor(private readonly source: PanelSource) {}

  async render({ object, actor, csrf, path, sent }: PanelContext<FilterTest>): Promise<Html> {
    const { launches, count, results } = object;
    const templateUrl = path.slice(0, -TEST_PATH.length);
    const template = await templateAt(this.source, templateUrl, actor);
    return html`${panelCard(
      'test-results',
      'Effect of these filters',
      html`<p>
          <strong>${launches} of ${count}</strong> deliveries would have launched.
          <a href="${templateUrl}webhook/">Back to the webhook</a>
        </p>
        ${filterTestForm(template, sent, csrf)}`,
    )}
    ${resultTable(listOf(results).filter(isRecord))}`;
  }
}

const resultTable = (results: readonly Item[]): Html =>
  scrollTable(
    'Deliveries',
    ['Received', 'Event', 'Ref', 'Would launch', 'Was'],
    results.map(resultRow),
  );

const resultRow = (result: Item): Html =>
  html`<tr>
    <td data-label="Received">
      <a href="/api/v2/webhook_deliveries/${String(result.delivery)}/"
        >${timeView(String(result.received))}</a
      >
    </td>
    <td data-label="Event">${String(result.event)}</td>
    <td data-label="Ref">
      ${typeof result.ref_name === 'string' && html`<code>${result.ref_name}</code>`}
    </td>
    <td data-label="Would launch">
      <span class="badge ${result.launches === true ? 'good' : 'plain'}"
        >${result.launches === true ? 'Yes' : 'No'}</span
      >
      <small>${String(result.reason ?? '')}</small>
    </td>
    <td data-label="Was">${statusBadge(String(result.verdict))}</td>
  </tr>`;
