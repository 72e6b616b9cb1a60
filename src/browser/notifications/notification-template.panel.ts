import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { labelOf } from '../../common/fields/label.js';
import { html, type Html } from '../shared/html.js';
import { panelCard, panelForm, type PanelForm } from '../shared/panel-forms.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/page-panels.service.js';
import { PanelSource } from '../shared/panel-source.service.js';
import type { Item } from '../shared/value-views.js';
import { EVENT_NAMES, TEST_EVENT } from '../../notifications/message/message-events.js';
import {
  notificationAttempts,
  notifications,
} from '../../notifications/notification-templates.resource.js';
import { notificationHistory } from './notification-history.js';

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
    const { body: mayTest } = await this.source.openParts('POST', `${url}test/`, actor);
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
          ${EVENT_NAMES.map((name) => html`<option value="${name}">${labelOf(name)}</option>`)}
        </select>
      </div>
      <button class="primary">Send a test</button>`,
  );

const isFreshTest = (record: Item | undefined): boolean =>
  record?.status === 'pending' &&
  record.event === TEST_EVENT &&
  Date.now() - Date.parse(String(record.created)) < WAIT.freshMs;
