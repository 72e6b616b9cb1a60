import { Injectable } from '@nestjs/common';
import { BOOLEAN, list, orNull, STRING } from '../common/fields/json-schema.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownBesides } from '../common/resource/extension.js';
import { resource } from '../common/resource/registry.js';
import { ref } from '../common/resource/resource-schema.js';
import { summariesAmong } from '../common/resource/related-rows.js';
import { sql } from '../database/sql.js';
import { launchedBy, LAUNCHED_BY, summarizeTemplate, RUN_TEMPLATE } from '../runs/launched-by.js';
import { ShownRuns, SOURCE_WORKFLOW_SHOWS } from '../runs/shown-runs.service.js';
import type { InventoryUpdate } from './inventory-update.entity.js';

export const UPDATE_SHOWS: ShownBesides = {
  ...SOURCE_WORKFLOW_SHOWS,
  fields: {
    launched_by: LAUNCHED_BY,
    license_error: BOOLEAN,
    custom_virtualenv: orNull(STRING),
  },
  summary_fields: {
    ...SOURCE_WORKFLOW_SHOWS.summary_fields,
    unified_job_template: RUN_TEMPLATE,
    credentials: list(ref('CredentialSummary')),
  },
};

@Injectable()
export class InventoryUpdateExtension {
  constructor(private readonly runs: ShownRuns) {}

  async extend(
    rows: readonly RowOf<InventoryUpdate>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const used = rows.flatMap((row) => row.credential_id ?? []);
    const [facts, sourceOf, credentials] = await Promise.all([
      this.runs.facts(rows, context),
      this.runs.sourceWorkflows(rows, context),
      summariesAmong(resource('credential'), sql`SELECT unnest(${used}::int[])`, context),
    ]);
    return new Map(
      rows.flatMap((row): [number, Extension][] => {
        const run = facts.get(row.id);
        if (!run) return [];
        const source = sourceOf(run);
        const credential = credentials.get(row.credential_id ?? 0);
        return [
          [
            row.id,
            {
              fields: {
                launched_by: launchedBy(run),
                elapsed: run.live_elapsed ?? row.elapsed,
                license_error: false,
                custom_virtualenv: null,
              },
              related: source.related,
              summary_fields: {
                ...source.summary_fields,
                ...summarizeTemplate(run, 'inventory_update'),
                credentials: credential ? [credential] : [],
              },
            },
          ],
        ];
      }),
    );
  }
}
