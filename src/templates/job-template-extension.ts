import { permit } from '../common/access.js';
import { ENCRYPTED } from '../common/fields/validate.js';
import type { Extension, RepresentContext, Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { labelSummaries } from '../labels/label-summaries.js';
import { sql } from '../database/sql.js';
import { receiverLink } from './webhook-links.js';

const RECENT_JOBS = 10;

interface RecentJob extends Row {
  template_id: number;
  status: string;
  finished: string | null;
  canceled_on: string | null;
  type: string;
}

interface AttachedCredential extends Row {
  template_id: number;
  name: string;
  description: string;
  kind: string;
  cloud: boolean;
}

interface SurveyHead extends Row {
  title: string | null;
  description: string | null;
}

/** What a job template shows besides its fields (core 10.1). Four statements a page. */
export async function jobTemplateExtension(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map(({ id }) => id);
  const recent = await loadRecentJobs(ids, context);
  const credentials = await loadCredentials(ids, context);
  const labels = await labelSummaries(resource('job_template'), ids, context);
  const surveys = await loadSurveys(ids, context);
  return new Map(
    rows.map((row) => {
      const survey = surveys.get(row.id);
      const own = credentials.filter((one) => one.template_id === row.id);
      return [
        row.id,
        {
          fields: maskedFields(row),
          related: relatedOf(row),
          summary_fields: {
            labels: labels.get(row.id),
            ...(survey ? { survey } : {}),
            recent_jobs: recent
              .filter((job) => job.template_id === row.id)
              .map(({ template_id: _template, ...job }) => job),
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

function relatedOf(row: Row): Record<string, string> {
  const related = receiverLink(resource('job_template'), row);
  for (const name of ['current_job', 'last_job']) {
    const id = row[`${name}_id`];
    if (typeof id === 'number') related[name] = resource('job').url(id);
  }
  return related;
}

/** Runs of a template may be seen by whoever may read the template. */
function loadRecentJobs(
  ids: readonly number[],
  { database }: RepresentContext,
): Promise<RecentJob[]> {
  return database.rows<RecentJob>(sql`
    SELECT tpl.id AS template_id, job.*
    FROM unnest(${ids}::int[]) AS tpl(id)
    CROSS JOIN LATERAL (
      SELECT id, status, finished, canceled_on, type FROM unified_jobs
      WHERE unified_job_template_id = tpl.id ORDER BY id DESC LIMIT ${RECENT_JOBS}) job`);
}

function loadCredentials(
  ids: readonly number[],
  { database, actor }: RepresentContext,
): Promise<AttachedCredential[]> {
  return database.rows<AttachedCredential>(sql`
    SELECT lnk.job_template_id AS template_id, c.id, c.name, c.description,
      coalesce(ct.namespace, ct.kind) AS kind, ct.kind = 'cloud' AS cloud
    FROM job_template_credentials lnk
    JOIN credentials c ON c.id = lnk.credential_id
    JOIN credential_types ct ON ct.id = c.credential_type_id
    WHERE lnk.job_template_id = ANY(${ids}::int[])
      AND ${permit(resource('credential').policy, 'read', 'c', actor)}
    ORDER BY lnk.id`);
}

async function loadSurveys(
  ids: readonly number[],
  { database }: RepresentContext,
): Promise<Map<number, { title: string | null; description: string | null }>> {
  const found = await database.rows<SurveyHead>(sql`
    SELECT id, survey_spec->>'name' AS title, survey_spec->>'description' AS description
    FROM unified_job_templates
    WHERE id = ANY(${ids}::int[]) AND survey_spec IS NOT NULL`);
  return new Map(found.map(({ id, title, description }) => [id, { title, description }]));
}
