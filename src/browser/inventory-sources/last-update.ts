import { html, type Html } from '../shared/html.js';
import { timeView, type Item } from '../shared/values.js';
import { isRecord } from '../../common/records.js';

/** When a source was updated last, and the way to the output of that, or of the present update. */
export function lastUpdate({ last_updated: time, related }: Item): Html {
  const links = isRecord(related) ? related : {};
  const output = links.current_update ?? links.last_update;
  return html`${typeof time === 'string' && html`<small>Last update ${timeView(time)}</small>`}
  ${typeof output === 'string' && html`<a href="${output}">Output</a>`}`;
}
