import {
  BOOLEAN,
  INTEGER,
  NUMBER,
  object,
  orNull,
  STRING,
} from '../../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  Row,
  RowOf,
  ShownBesides,
} from '../../common/resource/define-resource.js';
import { findResource } from '../../common/resource/registry.js';
import { ident, sql } from '../../database/sql.js';
import type { JobEventSchema } from './job-event.schema.js';

interface RunOfEvent extends Row {
  type: string;
  name: string;
  status: string;
  failed: boolean;
  elapsed: number;
  job_template_id: number | null;
  job_template_name: string | null;
}

export const JOB_EVENT_SHOWS: ShownBesides = {
  summary_fields: {
    job: object(
      {
        id: INTEGER,
        type: STRING,
        name: STRING,
        description: STRING,
        status: STRING,
        failed: BOOLEAN,
        elapsed: NUMBER,
        job_template_id: INTEGER,
        job_template_name: orNull(STRING),
      },
      ['job_template_id', 'job_template_name'],
    ),
    role: STRING,
  },
};

/**
 * `related.job` and `summary_fields.job` of events, with the template of the run
 * (docs/contract/runs.md#events).
 */
export async function jobEventExtension(
  rows: readonly RowOf<JobEventSchema>[],
  { database }: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = [...new Set(rows.map((row) => row.job_id))];
  const runs = await database.preparedRows<RunOfEvent>(sql`
    SELECT run.id, run.type, run.name, run.description, run.status, run.failed, run.elapsed,
      run.unified_job_template_id AS job_template_id, tpl.name AS job_template_name
    FROM ${ident('unified_jobs')} run
    LEFT JOIN unified_job_templates tpl ON tpl.id = run.unified_job_template_id
    WHERE run.id = ANY(${ids}::int[])`);
  const byId = new Map(runs.map((run) => [run.id, run]));
  return new Map(
    rows.flatMap((row): [number, Extension][] => {
      const run = byId.get(row.job_id);
      return run ? [[row.id, extensionOf(row, run)]] : [];
    }),
  );
}

function extensionOf(
  row: RowOf<JobEventSchema>,
  { job_template_id, job_template_name, ...run }: RunOfEvent,
): Extension {
  const template =
    run.type === 'job' && job_template_id !== null ? { job_template_id, job_template_name } : {};
  const url = findResource(run.type)?.url(run.id);
  return {
    ...(url ? { related: { job: url } } : {}),
    summary_fields: {
      job: { ...run, ...template },
      ...(row.role ? { role: row.role } : {}),
    },
  };
}
