import { Injectable } from '@nestjs/common';
import {
  BOOLEAN,
  described,
  INSTANT,
  list,
  object,
  orNull,
  STRING,
  WIDE_INTEGER,
} from '../common/fields/json-schema.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownBesides } from '../common/resource/extension.js';
import { resource } from '../common/resource/registry.js';
import { ref } from '../common/resource/resource-schema.js';
import { summariesReferredTo } from '../common/resource/related-rows.js';
import type { InventorySource } from './inventory-source.entity.js';
import {
  InventoryUpdatesRepository,
  type ShownInventoryUpdate,
} from './inventory-updates.repository.js';

const UPDATE = object({
  id: WIDE_INTEGER,
  name: STRING,
  description: STRING,
  status: STRING,
  failed: BOOLEAN,
});
export const SOURCE_SHOWS: ShownBesides = {
  fields: {
    last_updated: described(orNull(INSTANT), 'Time of the last update.'),
    last_update_failed: described(BOOLEAN, 'True if the last update failed.'),
    custom_virtualenv: described(orNull(STRING), 'Always null: no effect.'),
  },
  related: ['current_update', 'last_update'],
  summary_fields: {
    current_update: UPDATE,
    last_update: UPDATE,
    credentials: list(ref('CredentialSummary')),
  },
};

/**
 * Adds aliases of the template fields about runs, and the credential as a list
 * (docs/contract/inventory-sources.md#fields).
 */
@Injectable()
export class InventorySourceExtension {
  constructor(private readonly updates: InventoryUpdatesRepository) {}

  async extend(
    rows: readonly RowOf<InventorySource>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const ids = rows.flatMap((row) => [row.current_job_id, row.last_job_id]);
    const updates = await this.updates.shown(ids.filter((id) => id !== null));
    const byId = new Map(updates.map((update) => [update.id, update]));
    const credentials = await summariesReferredTo(
      resource('credential'),
      rows.flatMap((row) => row.credential_id ?? []),
      context,
    );
    return new Map(
      rows.map((row) => {
        const credential = credentials.get(row.credential_id ?? 0);
        const { related, summary } = updatesOf(row, byId);
        return [
          row.id,
          {
            fields: {
              last_updated: row.last_job_run,
              last_update_failed: row.last_job_failed,
              custom_virtualenv: null,
            },
            related,
            summary_fields: { ...summary, credentials: credential ? [credential] : [] },
          },
        ];
      }),
    );
  }
}

function updatesOf(
  row: RowOf<InventorySource>,
  updates: ReadonlyMap<number, ShownInventoryUpdate>,
): { related: Record<string, string>; summary: Record<string, ShownInventoryUpdate> } {
  const related: Record<string, string> = {};
  const summary: Record<string, ShownInventoryUpdate> = {};
  for (const which of ['current', 'last'] as const) {
    const id = row[`${which}_job_id`];
    if (id === null) continue;
    const url = resource('inventory_update').url(id);
    related[`${which}_job`] = url;
    related[`${which}_update`] = url;
    const update = updates.get(id);
    if (update) summary[`${which}_update`] = update;
  }
  return { related, summary };
}
