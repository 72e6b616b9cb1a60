import { html, type Html } from '../shared/html.js';
import { timeView, type Item } from '../shared/values.js';
import { isRecord } from '../../common/records.js';

/** Renders the time of the last update, and a link to the output of the current or last update. */
export function lastUpdate({ last_updated: time, related }: Item): Html {
  const links = isRecord(related) ? related : {};
  const output = links.current_update ?? links.last_update;
  return html`${typeof time === 'string' && html`<small>Last update ${timeView(time)}</small>`}
  ${typeof output === 'string' && html`<a href="${output}">Output</a>`}`;
}
