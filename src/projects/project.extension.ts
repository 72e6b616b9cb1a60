import { Injectable } from '@nestjs/common';
import {
  BOOLEAN,
  described,
  INSTANT,
  object,
  orNull,
  STRING,
  WIDE_INTEGER,
} from '../common/fields/json-schema.js';
import type { Row } from '../common/resource/define-resource.js';
import type { Extension, ShownBesides } from '../common/resource/extension.js';
import { resource } from '../common/resource/registry.js';
import { receiverLink } from '../templates/webhook-links.js';
import { ProjectUpdatesRepository, type ShownUpdate } from './project-updates.repository.js';

const UPDATE = object({
  id: WIDE_INTEGER,
  name: STRING,
  description: STRING,
  status: STRING,
  failed: BOOLEAN,
});

export const PROJECT_SHOWS: ShownBesides = {
  fields: {
    last_updated: described(orNull(INSTANT), 'Time of the last update.'),
    last_update_failed: described(BOOLEAN, 'True if the last update failed.'),
  },
  related: ['webhook_receiver', 'current_update', 'last_update'],
  summary_fields: { current_update: UPDATE, last_update: UPDATE },
};

/** Adds aliases of the template fields about runs (docs/contract/resources.md#projects). */
@Injectable()
export class ProjectExtension {
  constructor(private readonly updates: ProjectUpdatesRepository) {}

  async extend(rows: readonly Row[]): Promise<Map<number, Extension>> {
    const ids = rows.flatMap((row) => [row.current_job_id, row.last_job_id]);
    const updates = await this.updates.shown(ids.filter((id) => typeof id === 'number'));
    const byId = new Map(updates.map((update) => [update.id, update]));
    return new Map(rows.map((row) => [row.id, extensionOf(row, byId)]));
  }
}

function extensionOf(row: Row, updates: ReadonlyMap<number, ShownUpdate>): Extension {
  const related = receiverLink(resource('project'), row);
  const summary: Record<string, unknown> = {};
  for (const which of ['current', 'last']) {
    const id = row[`${which}_job_id`];
    if (typeof id !== 'number') continue;
    const url = resource('project_update').url(id);
    related[`${which}_job`] = url;
    related[`${which}_update`] = url;
    const update = updates.get(id);
    if (update) summary[`${which}_update`] = update;
  }
  return {
    fields: { last_updated: row.last_job_run, last_update_failed: row.last_job_failed },
    related,
    summary_fields: summary,
  };
}
