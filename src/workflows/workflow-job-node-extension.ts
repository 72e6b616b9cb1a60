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
import { findResource, resource } from '../common/resource/registry.js';
import { sql, type Sql } from '../database/sql.js';
import type { EdgeKind } from './workflow-rows.js';

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
    job: object(
      {
        id: INTEGER,
        name: STRING,
        description: STRING,
        status: STRING,
        failed: BOOLEAN,
        elapsed: NUMBER,
        type: STRING,
        canceled_on: orNull(INSTANT),
        timed_out: BOOLEAN,
      },
      ['timed_out'],
    ),
  },
};

interface NodeFacts extends Row {
  node_id: number;
  success_nodes: number[];
  failure_nodes: number[];
  always_nodes: number[];
}

/** What a node runs and its run, by their kinds: the references only know that they are some kind. */
export async function nodeExtension(
  rows: readonly Row[],
  { database, actor }: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map(({ id }) => id);
  const found = await database.rows<NodeFacts>(sql`
    SELECT n.id AS node_id, tpl.type AS template_type, tpl.name AS template_name,
      tpl.description AS template_description, job.type AS job_type, job.id, job.name,
      job.description, job.status, job.failed, job.elapsed, job.canceled_on, job.timed_out,
      (${permit(resource('unified_job_template').policy, 'read', 'tpl', actor)}) AS may_read_template,
      (${permit(resource('unified_job').policy, 'read', 'job', actor)}) AS may_read_job,
      ${children('success')} AS success_nodes, ${children('failure')} AS failure_nodes,
      ${children('always')} AS always_nodes
    FROM workflow_job_nodes n
    LEFT JOIN unified_job_templates tpl ON tpl.id = n.unified_job_template_id
    LEFT JOIN unified_jobs job ON job.id = n.job_id
    WHERE n.id = ANY(${ids}::int[])`);
  const byNode = new Map(found.map((one) => [one.node_id, one]));
  return new Map(rows.map((row) => [row.id, describe(row, byNode.get(row.id))]));
}

const children = (kind: EdgeKind): Sql => sql`
  ARRAY(SELECT child_id FROM workflow_job_node_edges
    WHERE parent_id = n.id AND kind = ${kind} ORDER BY child_id)`;

function describe(row: Row, found: NodeFacts | undefined): Extension {
  const template = urlOf(found?.template_type, row.unified_job_template_id);
  const job = urlOf(found?.job_type, row.job_id);
  return {
    fields: {
      extra_vars: row.extra_data,
      execution_environment: null,
      success_nodes: found?.success_nodes ?? [],
      failure_nodes: found?.failure_nodes ?? [],
      always_nodes: found?.always_nodes ?? [],
    },
    related: { unified_job_template: template, job },
    summary_fields: {
      ...(found && template ? summarizeTemplate(row, found) : {}),
      ...(found && job && found.may_read_job === true ? { job: summarizeJob(found) } : {}),
    },
  };
}

const urlOf = (type: unknown, id: unknown): string | null =>
  typeof type === 'string' && typeof id === 'number' ? (findResource(type)?.url(id) ?? null) : null;

/** Kind of runs by kind of template. */
const RUN_TYPES: Readonly<Record<string, string>> = {
  job_template: 'job',
  project: 'project_update',
  workflow_job_template: 'workflow_job',
  workflow_approval_template: 'workflow_approval',
};

function summarizeTemplate(row: Row, found: NodeFacts): Record<string, unknown> {
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

function summarizeJob({ id, name, description, status, failed, ...rest }: NodeFacts): object {
  const { elapsed, job_type: type, canceled_on, timed_out } = rest;
  return {
    ...{ id, name, description, status, failed, elapsed, type, canceled_on },
    ...(type === 'workflow_approval' ? { timed_out } : {}),
  };
}
