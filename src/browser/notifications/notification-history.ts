import { ACTIONS_HEADING, folded, scrollTable } from '../shared/layout.js';
import { html, type Html, type HtmlValue } from '../shared/html.js';
import { panelButton } from '../shared/panel-forms.js';
import { statusBadge, timeView, type Item } from '../shared/value-views.js';

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
export function notificationHistory(parts: HistoryParts): Html {
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
