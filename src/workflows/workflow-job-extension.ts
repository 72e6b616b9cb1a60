import { permit } from '../common/access.js';
import {
  BOOLEAN,
  freeObject,
  INSTANT,
  INTEGER,
  list,
  NUMBER,
  object,
  orNull,
  STRING,
} from '../common/openapi/json-schema.js';
import type {
  Extension,
  RepresentContext,
  Row,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { sql } from '../database/sql.js';
import { launchedBy, LAUNCHED_BY, loadRunFacts } from '../jobs/launched-by.js';

export const WORKFLOW_JOB_SHOWS: ShownBesides = {
  fields: {
    launched_by: LAUNCHED_BY,
    workflow_job_template: orNull(INTEGER),
    job_template: orNull(INTEGER),
    is_sliced_job: BOOLEAN,
    workflow_nodes: { ...STRING, description: 'Path of the list of nodes.' },
  },
};

/** Fields of workflow jobs that are no columns (core 13.4). */
export async function workflowJobExtension(
  rows: readonly Row[],
  { database }: RepresentContext,
): Promise<Map<number, Extension>> {
  const facts = await loadRunFacts(database, rows);
  return new Map(
    rows.flatMap((row): [number, Extension][] => {
      const run = facts.get(row.id);
      if (!run) return [];
      return [
        [
          row.id,
          {
            fields: {
              launched_by: launchedBy(run),
              elapsed: run.live_elapsed ?? row.elapsed,
              workflow_job_template: null,
              job_template: null,
              is_sliced_job: false,
              // The seed shows it at the top level, the clients look in `related`.
              workflow_nodes: `${resource('workflow_job').url(row.id)}workflow_nodes/`,
            },
          },
        ],
      ];
    }),
  );
}

const NODE_IDS = list(INTEGER);

export const NODE_SHOWS: ShownBesides = {
  fields: {
    extra_vars: freeObject('The variables of the node, as in extra_data.'),
    execution_environment: orNull(INTEGER),
    success_nodes: NODE_IDS,
    failure_nodes: NODE_IDS,
    always_nodes: NODE_IDS,
  },
  summary_fields: {
    unified_job_template: object({
      id: INTEGER,
      name: STRING,
      description: STRING,
      unified_job_type: STRING,
    }),
    job: object({
      id: INTEGER,
      name: STRING,
      description: STRING,
      status: STRING,
      failed: BOOLEAN,
      elapsed: NUMBER,
      type: STRING,
      canceled_on: orNull(INSTANT),
    }),
  },
};

interface NodeRun extends Row {
  node_id: number;
}

/** What a node runs and its run, by their kinds: the references only know that they are some kind. */
export async function nodeExtension(
  rows: readonly Row[],
  { database, actor }: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map(({ id }) => id);
  const found = await database.rows<NodeRun>(sql`
    SELECT n.id AS node_id, tpl.type AS template_type, tpl.name AS template_name,
      tpl.description AS template_description, job.type AS job_type, job.id, job.name,
      job.description, job.status, job.failed, job.elapsed, job.canceled_on,
      (${permit(resource('unified_job_template').policy, 'read', 'tpl', actor)}) AS may_read_template,
      (${permit(resource('unified_job').policy, 'read', 'job', actor)}) AS may_read_job
    FROM workflow_job_nodes n
    LEFT JOIN unified_job_templates tpl ON tpl.id = n.unified_job_template_id
    LEFT JOIN unified_jobs job ON job.id = n.job_id
    WHERE n.id = ANY(${ids}::int[])`);
  const byNode = new Map(found.map((one) => [one.node_id, one]));
  return new Map(rows.map((row) => [row.id, describeNode(row, byNode.get(row.id))]));
}

function describeNode(row: Row, found: NodeRun | undefined): Extension {
  const template = resourceUrl(found?.template_type, row.unified_job_template_id);
  const job = resourceUrl(found?.job_type, row.job_id);
  return {
    fields: {
      extra_vars: row.extra_data,
      execution_environment: null,
      success_nodes: [],
      failure_nodes: [],
      always_nodes: [],
    },
    related: { unified_job_template: template, job },
    summary_fields: {
      ...(found && template ? summarizeNodeTemplate(row, found) : {}),
      ...(found && job && found.may_read_job === true ? { job: summarizeJob(found) } : {}),
    },
  };
}

const resourceUrl = (type: unknown, id: unknown): string | null =>
  typeof type === 'string' && typeof id === 'number' ? resource(type).url(id) : null;

/** Kind of runs by kind of template. */
const RUN_TYPES: Readonly<Record<string, string>> = {
  job_template: 'job',
  project: 'project_update',
};

function summarizeNodeTemplate(row: Row, found: NodeRun): Record<string, unknown> {
  if (found.may_read_template !== true) return {};
  return {
    unified_job_template: {
      id: row.unified_job_template_id,
      name: found.template_name,
      description: found.template_description,
      unified_job_type: RUN_TYPES[String(found.template_type)] ?? '',
    },
  };
}

function summarizeJob({
  id,
  name,
  description,
  status,
  failed,
  elapsed,
  ...rest
}: NodeRun): object {
  const { job_type: type, canceled_on } = rest;
  return { id, name, description, status, failed, elapsed, type, canceled_on };
}
