import { permit } from '../common/access.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { entryOf } from '../common/invariants.js';
import { BOOLEAN, INTEGER, list, object, STRING } from '../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  Row,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { sql } from '../database/sql.js';
import { summarizeTemplates, TEMPLATE_SHOWS } from '../templates/template-summaries.js';

interface AttachedCredential extends Row {
  template_id: number;
  name: string;
  description: string;
  kind: string;
  cloud: boolean;
}

export const JOB_TEMPLATE_SHOWS: ShownBesides = {
  ...TEMPLATE_SHOWS,
  summary_fields: {
    ...TEMPLATE_SHOWS.summary_fields,
    credentials: list(
      object({ id: INTEGER, name: STRING, description: STRING, kind: STRING, cloud: BOOLEAN }),
    ),
  },
};

/** What a job template shows besides its fields (docs/contract/resources.md#job-templates). */
export async function jobTemplateExtension(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const common = await summarizeTemplates(resource('job_template'), rows, context);
  const credentials = await loadCredentials(
    rows.map(({ id }) => id),
    context,
  );
  return new Map(
    rows.map((row) => {
      const { related, summary_fields } = entryOf(common, row.id);
      const own = credentials.filter((one) => one.template_id === row.id);
      return [
        row.id,
        {
          fields: maskedFields(row),
          related,
          summary_fields: {
            ...summary_fields,
            credentials: own.map(({ template_id: _template, ...credential }) => credential),
          },
        },
      ];
    }),
  );
}

/** The callback key is a password: only those who may change it see it. */
function maskedFields({ host_config_key: key, can_edit: canEdit }: Row): Record<string, unknown> {
  return typeof key === 'string' && key !== '' && canEdit !== true
    ? { host_config_key: ENCRYPTED }
    : {};
}

function loadCredentials(
  ids: readonly number[],
  { database, actor }: RepresentContext,
): Promise<AttachedCredential[]> {
  return database.preparedRows<AttachedCredential>(sql`
    SELECT lnk.job_template_id AS template_id, c.id, c.name, c.description,
      coalesce(ct.namespace, ct.kind) AS kind, ct.kind = 'cloud' AS cloud
    FROM job_template_credentials lnk
    JOIN credentials c ON c.id = lnk.credential_id
    JOIN credential_types ct ON ct.id = c.credential_type_id
    WHERE lnk.job_template_id = ANY(${ids}::int[])
      AND ${permit(resource('credential').policy, 'read', 'c', actor)}
    ORDER BY lnk.id`);
}
