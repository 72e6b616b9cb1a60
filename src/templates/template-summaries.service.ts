import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import type { Actor } from '../common/access.js';
import {
  findResource,
  type ResourceDefinition,
  type Row,
} from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import type { Sql } from '../database/sql.js';
import { instantOf } from '../database/instants.js';
import { LABEL_SUMMARY, labelSummaries } from '../labels/label-links.js';
import { TemplateRuns, type RecentRun } from './template-runs.js';
import { surveyHeads, type SurveyHead } from './templates.repository.js';
import { receiverLink } from './webhook-links.js';

const RECENT_JOBS = 10;

/** An execution environment; `may_read` is true if the caller sees more than id and name. */
export interface ResolvedEnvironment extends Record<string, unknown> {
  id: number;
  name: string;
  may_read: boolean;
}

/**
 * Determines the execution environments of templates' runs. Implemented by the launching module,
 * which knows the defaults.
 */
export abstract class ResolvedEnvironments {
  /**
   * Returns a query for the environment of runs without a selected environment
   * (`ResolvedEnvironment`).
   */
  abstract of(template: Row, actor: Actor): Sql;
}

export const TEMPLATE_SHOWS: ShownMembers = {
  related: ['webhook_receiver'],
  summary_fields: {
    labels: LABEL_SUMMARY,
    survey: json.object({ title: json.orNull(json.STRING), description: json.orNull(json.STRING) }),
    recent_jobs: json.list(
      json.object({
        id: json.WIDE_INTEGER,
        status: json.STRING,
        finished: json.orNull(json.INSTANT),
        canceled_on: json.orNull(json.INSTANT),
        type: json.STRING,
      }),
    ),
  },
};

/** Data of templates with labels, surveys and webhooks besides their fields. */
@Injectable()
export class TemplateSummaries {
  constructor(private readonly runs: TemplateRuns) {}

  /**
   * Returns `related` links of receiver and runs, and summaries of labels, survey and recent runs
   * (docs/contract/resources.md#job-templates).
   */
  async of(
    definition: ResourceDefinition,
    rows: readonly Row[],
    context: RepresentContext,
  ): Promise<Map<number, Required<Pick<Extension, 'related' | 'summary_fields'>>>> {
    const ids = rows.map(({ id }) => id);
    const { batch } = context;
    const [recent, labels, surveys, kinds] = await Promise.all([
      batch.rows<RecentRun>(this.runs.recent(ids, RECENT_JOBS)),
      labelSummaries(definition, ids, context),
      surveysOf(ids, context),
      batch.rows<{ id: number; type: string }>(this.runs.kinds(linkedRuns(rows))),
    ]);
    const runTypes = new Map(kinds.map(({ id, type }) => [id, type]));
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
                .map(({ template_id: _template, ...job }) => ({
                  ...job,
                  finished: instantOf(job.finished),
                  canceled_on: instantOf(job.canceled_on),
                })),
            },
          },
        ];
      }),
    );
  }
}

const RUN_LINKS = ['current_job', 'last_job'] as const;

function runsOf(row: Row, types: ReadonlyMap<number, string>): Record<string, string> {
  const links = RUN_LINKS.flatMap((name) => {
    const id = row[`${name}_id`];
    const type = typeof id === 'number' ? types.get(id) : undefined;
    const url = type === undefined ? undefined : findResource(type)?.url(id);
    return url === undefined ? [] : [[name, url] as const];
  });
  return Object.fromEntries(links);
}

/**
 * Returns the ids of current and last runs. The kinds of these runs must be queried, because a
 * sliced job template launches a workflow job.
 */
const linkedRuns = (rows: readonly Row[]): number[] =>
  rows
    .flatMap((row) => RUN_LINKS.map((name) => row[`${name}_id`]))
    .filter((id) => typeof id === 'number');

async function surveysOf(
  ids: readonly number[],
  { batch }: RepresentContext,
): Promise<Map<number, { title: string | null; description: string | null }>> {
  const found = await batch.rows<SurveyHead>(surveyHeads(ids));
  return new Map(found.map(({ id, title, description }) => [id, { title, description }]));
}
