import * as json from '../common/fields/json-schema.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import type { ShownUpdate } from './runs.repository.js';

const UPDATE = json.object({
  id: json.WIDE_INTEGER,
  name: json.STRING,
  description: json.STRING,
  status: json.STRING,
  failed: json.BOOLEAN,
});

/** Schema of the summaries of a template's current and last update. */
export const UPDATE_SUMMARIES = { current_update: UPDATE, last_update: UPDATE };

/** Returns the links and summaries of the current and the last update of a template. */
export function updatesOf(
  template: Row,
  updateType: 'project_update' | 'inventory_update',
  updates: ReadonlyMap<number, ShownUpdate>,
): { related: Record<string, string>; summary: Record<string, ShownUpdate> } {
  const related: Record<string, string> = {};
  const summary: Record<string, ShownUpdate> = {};
  for (const period of ['current', 'last']) {
    const id = template[`${period}_job_id`];
    if (typeof id !== 'number') continue;
    const url = resource(updateType).url(id);
    related[`${period}_job`] = url;
    related[`${period}_update`] = url;
    const update = updates.get(id);
    if (update) summary[`${period}_update`] = update;
  }
  return { related, summary };
}
