import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { labelOf } from '../../common/fields/label.js';
import { html, type Html, type HtmlValue } from '../shared/html.js';
import { panelCard, panelForm, type PanelForm, panelButton } from '../shared/panel-forms.js';
import { PagePanel, PanelSource, type Panel, type PanelContext } from '../shared/panels.service.js';
import { type Item, statusBadge, timeView } from '../shared/value-views.js';
import { EVENT_NAMES, TEST_EVENT } from '../../notifications/message/message-events.js';
import {
  notificationAttempts,
  notifications,
} from '../../notifications/notification-templates.resource.js';
import { ACTIONS_HEADING, folded, scrollTable } from '../shared/layout.js';

interface ShownTemplate {
  id: number;
  url: string;
}

/** Maximum number of notifications on the page; the list of the API is complete. */
const LIMIT = 8;
/**
 * Wait of a page for the result of a test: at most 10 steps of 250 ms, for tests under 10 s old.
 */
const WAIT = { steps: 10, ms: 250, freshMs: 10_000 };

/** Renders a form that sends a test, and the last notifications of the template. */
@Injectable()
@PagePanel('notification_template')
export class NotificationTemplatePanel implements Panel<ShownTemplate> {
  readonly covers = ['test'];

  constructor(private readonly source: PanelSource) {}

  async render({ object, actor, csrf }: PanelContext<ShownTemplate>): Promise<Html> {
    const { id, url } = object;
    const { body: mayTest } = await this.source.openParts(`${url}test/`, actor);
    const records = await this.newestRecords(id, actor);
    const ids = records.map((record) => String(record.id)).join(',');
    const attempts =
      ids === ''
        ? []
        : await this.source.list(
            notificationAttempts,
            { notification__in: ids, order_by: 'id', page_size: '200' },
            actor,
          );
    const history = { records, attempts, csrf, returnTo: `${url}#sent`, mayResend: mayTest };
    const [newest] = records;
    return panelCard(
      'sent',
      'Recent notifications',
      html`${mayTest && testForm({ action: `${url}test/`, csrf, returnTo: `${url}#sent` })}
        <div class="actions">
          <a class="button" href="${url}notifications/?order_by=-id">All notifications</a>
          ${newest?.status === 'pending' && html`<a class="button" href="${url}#sent">Refresh</a>`}
        </div>
        ${notificationHistory(history)}`,
    );
  }

  /** Returns the newest notifications; waits for the result of a test that has just been sent. */
  private async newestRecords(id: number, actor: Actor): Promise<Item[]> {
    const query = {
      notification_template: String(id),
      order_by: '-id',
      page_size: String(LIMIT),
    };
    let records = await this.source.list(notifications, query, actor);
    for (let step = 0; step < WAIT.steps && isFreshTest(records[0]); step += 1) {
      await sleep(WAIT.ms);
      records = await this.source.list(notifications, query, actor);
    }
    return records;
  }
}

const testForm = (form: PanelForm): Html =>
  panelForm(
    form,
    html`<div class="field">
        <label for="test-event">Message</label>
        <select id="test-event" name="event">
          <option value="">Test message</option>
          ${EVENT_NAMES.map((name) => html`<option value="${name}">${labelOf(name.replace('.', ' '))}</option>`)}
        </select>
      </div>
      <button class="primary">Send a test</button>`,
  );

const isFreshTest = (record: Item | undefined): boolean =>
  record?.status === 'pending' &&
  record.event === TEST_EVENT &&
  Date.now() - Date.parse(String(record.created)) < WAIT.freshMs;

interface HistoryParts {
  /** Notifications, newest first. */
  records: readonly Item[];
  /** Attempts of the notifications, in order; empty if the caller may not read them. */
  attempts: readonly Item[];
  csrf: string;
  returnTo: string;
  /** True if the caller may resend a notification. */
  mayResend: boolean;
}

/** Renders recent notifications with their attempts and a button to resend. */
function notificationHistory(parts: HistoryParts): Html {
  const { records } = parts;
  if (records.length === 0) return html`<p class="hint">No notifications sent yet.</p>`;
  return scrollTable(
    'Table of notifications',
    ['Sent', 'Event', 'State', 'Attempts', ACTIONS_HEADING],
    records.map((record) => historyRow(record, parts)),
  );
}

function historyRow(record: Item, { attempts, csrf, returnTo, mayResend }: HistoryParts): Html {
  const { url, created, event, status, error, next_attempt_at: next } = record;
  const recordAttempts = attempts.filter(({ notification }) => notification === record.id);
  const form = { action: `${String(url)}resend/`, csrf, returnTo };
  const isOver = status !== 'pending' && next === null;
  return html`<tr>
    <td data-label="Sent"><a href="${String(url)}">${timeView(String(created))}</a></td>
    <td data-label="Event">${String(event)}</td>
    <td data-label="State">
      ${statusBadge(String(status))}
      ${typeof error === 'string' && error !== '' && html`<small>${error}</small>`}
      ${typeof next === 'string' && html`<small>Next attempt ${timeView(next)}</small>`}
    </td>
    <td data-label="Attempts">${recordAttempts.length > 0 && attemptList(recordAttempts)}</td>
    <td class="end">${mayResend && isOver && panelButton(form, 'Resend')}</td>
  </tr>`;
}

const attemptList = (attempts: readonly Item[]): HtmlValue =>
  folded(
    attempts.length === 1 ? 'One attempt' : `${attempts.length} attempts`,
    html`<ol>
      ${attempts.map(
        ({ successful, status_code: code, detail, duration_ms: duration }) =>
          html`<li>
            ${successful === null ? 'In progress' : successful === true ? 'Delivered' : 'Failed'}
            ${typeof code === 'number' && `with ${code}`}
            ${typeof duration === 'number' && `in ${duration} ms`}
            ${typeof detail === 'string' && detail !== '' && html`<code>${detail}</code>`}
          </li>`,
      )}
    </ol>`,
    { kind: 'plain' },
  );
