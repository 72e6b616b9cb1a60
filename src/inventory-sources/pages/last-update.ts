import { html, type Html } from '../../common/pages/html.js';
import { statusBadge, timeView, type Item } from '../../common/pages/values.js';
import { isRecord } from '../../common/records.js';

/** How the last update of a source went, or how the present one goes, and the way to its output. */
export function lastUpdate({ status, last_updated: time, related }: Item): Html {
  const links = isRecord(related) ? related : {};
  const output = links.current_update ?? links.last_update;
  return html`${statusBadge(String(status))}
  ${typeof time === 'string' && html`<small>Last update ${timeView(time)}</small>`}
  ${typeof output === 'string' && html`<a href="${output}">Output</a>`}`;
}
