import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { ref } from '../common/resource/resource-schema.js';
import { querySummaries } from '../common/resource/related-rows.js';
import { sql } from '../database/sql.js';
import {
  TemplateRunExtension,
  TEMPLATE_RUN_SHOWS,
  addToExtensions,
} from '../runs/template-run.extension.js';
import type { InventoryUpdate } from './inventory-update.entity.js';

export const UPDATE_SHOWS: ShownMembers = {
  ...TEMPLATE_RUN_SHOWS,
  fields: {
    ...TEMPLATE_RUN_SHOWS.fields,
    license_error: json.described(json.BOOLEAN, 'Always false: there is no license.'),
    custom_virtualenv: json.described(json.orNull(json.STRING), 'Always null: no effect.'),
  },
  summary_fields: {
    ...TEMPLATE_RUN_SHOWS.summary_fields,
    credentials: json.list(ref('CredentialSummary')),
  },
};

/** Adds the credential of inventory updates, and the data that all runs of templates have. */
@Injectable()
export class InventoryUpdateExtension {
  constructor(private readonly runs: TemplateRunExtension) {}

  async extend(
    rows: readonly RowOf<InventoryUpdate>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const used = rows.flatMap((row) => row.credential_id ?? []);
    const [extensions, credentials] = await Promise.all([
      this.runs.extend(rows, context),
      querySummaries(resource('credential'), sql`SELECT unnest(${used}::int[])`, context),
    ]);
    return addToExtensions(extensions, rows, ({ credential_id: id }) => {
      const credential = credentials.get(id ?? 0);
      return {
        fields: { license_error: false, custom_virtualenv: null },
        summary_fields: { credentials: credential ? [credential] : [] },
      };
    });
  }
}
