import { INSTANT, INTEGER, list, object, orNull, STRING } from '../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  ResourceDefinition,
  Row,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { findResource } from '../common/resource/registry.js';
import { sql } from '../database/sql.js';
import { LABEL_SUMMARY, labelSummaries } from '../labels/label-summaries.js';
import { receiverLink } from './webhook-links.js';

const RECENT_JOBS = 10;

interface RecentJob extends Row {
  template_id: number;
  status: string;
  finished: string | null;
  canceled_on: string | null;
  type: string;
}

interface SurveyHead extends Row {
  title: string | null;
  description: string | null;
}

export const TEMPLATE_SHOWS: ShownBesides = {
  related: ['webhook_receiver'],
  summary_fields: {
    labels: LABEL_SUMMARY,
    survey: object({ title: orNull(STRING), description: orNull(STRING) }),
    recent_jobs: list(
      object({
        id: INTEGER,
        status: STRING,
        finished: orNull(INSTANT),
        canceled_on: orNull(INSTANT),
        type: STRING,
      }),
    ),
  },
};

/**
 * What templates with labels, surveys and webhooks show besides their fields
 * (docs/contract/resources.md#job-templates): `related` of receiver and runs, summaries of labels,
 * survey and recent runs. Four statements a page.
 */
export async function summarizeTemplates(
  definition: ResourceDefinition,
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, Required<Pick<Extension, 'related' | 'summary_fields'>>>> {
  const ids = rows.map(({ id }) => id);
  const recent = await loadRecentJobs(ids, context);
  const labels = await labelSummaries(definition, ids, context);
  const surveys = await loadSurveys(ids, context);
  const runTypes = await loadRunTypes(rows, context);
  return new Map(
    rows.map((row) => {
      const survey = surveys.get(row.id);
      return [
        row.id,
        {
          related: { ...receiverLink(definition, row), ...runsOf(row, runTypes) },
          summary_fields: {
            labels: labels.get(row.id),
            ...(survey ? { survey } : {}),
            recent_jobs: recent
              .filter((job) => job.template_id === row.id)
              .map(({ template_id: _template, ...job }) => job),
          },
        },
      ];
    }),
  );
}

const RUN_LINKS = ['current_job', 'last_job'] as const;

function runsOf(row: Row, types: ReadonlyMap<number, string>): Record<string, string> {
  const links = RUN_LINKS.flatMap((name) => {
    const id = row[`${name}_id`] as number | null;
    const type = id === null ? undefined : types.get(id);
    const url = type === undefined ? undefined : findResource(type)?.url(id);
    return url === undefined ? [] : [[name, url] as const];
  });
  return Object.fromEntries(links);
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

/** Kinds of the present and the last runs: a sliced job template launches a workflow job. */
async function loadRunTypes(
  rows: readonly Row[],
  { database }: RepresentContext,
): Promise<Map<number, string>> {
  const ids = rows.flatMap((row) => RUN_LINKS.flatMap((name) => row[`${name}_id`] ?? []));
  const found = await database.rows<Row & { type: string }>(sql`
    SELECT id, type FROM unified_jobs WHERE id = ANY(${ids}::int[])`);
  return new Map(found.map(({ id, type }) => [id, type]));
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
