import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import { extendEach, resource, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { ref } from '../common/resource/resource-schema.js';
import { referencedSummaries } from '../common/resource/related-rows.js';
import { RunsRepository } from '../runs/runs.repository.js';
import { UPDATE_SUMMARIES, updatesOf } from '../runs/template-updates.js';
import type { InventorySource } from './inventory-source.entity.js';

export const SOURCE_SHOWS: ShownMembers = {
  fields: {
    last_updated: json.described(json.orNull(json.INSTANT), 'Time of the last update.'),
    last_update_failed: json.described(json.BOOLEAN, 'True if the last update failed.'),
    custom_virtualenv: json.described(json.orNull(json.STRING), 'Always null: no effect.'),
  },
  related: ['current_update', 'last_update'],
  summary_fields: { ...UPDATE_SUMMARIES, credentials: json.list(ref('CredentialSummary')) },
};

/**
 * Adds aliases of the template fields about runs, and the credential as a list
 * (docs/contract/inventory-sources.md#fields).
 */
@Injectable()
export class InventorySourceExtension {
  constructor(private readonly runs: RunsRepository) {}

  async extend(
    rows: readonly RowOf<InventorySource>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const ids = rows.flatMap((row) => [row.current_job_id, row.last_job_id]);
    const updates = await this.runs.shownUpdates(ids.filter((id) => id !== null));
    const credentials = await referencedSummaries(
      resource('credential'),
      rows.flatMap((row) => row.credential_id ?? []),
      context,
    );
    return extendEach(rows, (row) => {
      const credential = credentials.get(row.credential_id ?? 0);
      const { related, summary } = updatesOf(row, 'inventory_update', updates);
      return {
        fields: {
          last_updated: row.last_job_run,
          last_update_failed: row.last_job_failed,
          custom_virtualenv: null,
        },
        related,
        summary_fields: { ...summary, credentials: credential ? [credential] : [] },
      };
    });
  }
}
