import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import { extendEach, resource, type Row } from '../common/resource/define-resource.js';
import type { Extension, ShownMembers } from '../common/resource/extension.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { UPDATE_SUMMARIES, updatesOf } from '../runs/template-updates.js';
import { receiverLink } from '../templates/webhook-links.js';

export const PROJECT_SHOWS: ShownMembers = {
  fields: {
    last_updated: json.described(json.orNull(json.INSTANT), 'Time of the last update.'),
    last_update_failed: json.described(json.BOOLEAN, 'True if the last update failed.'),
  },
  related: ['webhook_receiver', 'current_update', 'last_update'],
  summary_fields: UPDATE_SUMMARIES,
};

/** Adds aliases of the template fields about runs (docs/contract/resources.md#projects). */
@Injectable()
export class ProjectExtension {
  constructor(private readonly runs: RunsRepository) {}

  async extend(rows: readonly Row[]): Promise<Map<number, Extension>> {
    const ids = rows.flatMap((row) => [row.current_job_id, row.last_job_id]);
    const updates = await this.runs.shownUpdates(ids.filter((id) => typeof id === 'number'));
    return extendEach(rows, (row) => {
      const { related, summary } = updatesOf(row, 'project_update', updates);
      return {
        fields: { last_updated: row.last_job_run, last_update_failed: row.last_job_failed },
        related: { ...receiverLink(resource('project'), row), ...related },
        summary_fields: summary,
      };
    });
  }
}
