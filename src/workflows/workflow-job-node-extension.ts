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
} from '../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  Row,
  RowOf,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { sql, type Sql } from '../database/sql.js';
import {
  TEMPLATE_SUMMARY,
  templateReferences,
  type TemplateReference,
} from '../templates/template-references.js';
import type { EdgeKind } from './workflow-rows.js';
import type { WorkflowJobNodeSchema } from './workflow-job-node.schema.js';

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
    unified_job_template: TEMPLATE_SUMMARY,
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

/** What a node runs, its run, and what follows it. Two statements a page. */
export async function nodeExtension(
  rows: readonly RowOf<WorkflowJobNodeSchema>[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const { database, actor } = context;
  const ids = rows.map(({ id }) => id);
  const found = await database.preparedRows<NodeFacts>(sql`
    SELECT n.id AS node_id, job.type AS job_type, job.id, job.name, job.description, job.status,
      job.failed, job.elapsed, job.canceled_on, job.timed_out,
      (${permit(resource('unified_job').policy, 'read', 'job', actor)}) AS may_read_job,
      ${children('success')} AS success_nodes, ${children('failure')} AS failure_nodes,
      ${children('always')} AS always_nodes
    FROM workflow_job_nodes n
    LEFT JOIN unified_jobs job ON job.id = n.job_id
    WHERE n.id = ANY(${ids}::int[])`);
  const byNode = new Map(found.map((one) => [one.node_id, one]));
  const templateIds = rows.flatMap((row) => row.unified_job_template_id ?? []);
  const templates = await templateReferences(templateIds, context);
  return new Map(
    rows.map((row) => {
      const template = templates.get(row.unified_job_template_id as number);
      return [row.id, describe(row, byNode.get(row.id), template)];
    }),
  );
}

const children = (kind: EdgeKind): Sql => sql`
  ARRAY(SELECT child_id FROM workflow_job_node_edges
    WHERE parent_id = n.id AND kind = ${kind} ORDER BY child_id)`;

function describe(
  row: RowOf<WorkflowJobNodeSchema>,
  found: NodeFacts | undefined,
  template: TemplateReference | undefined,
): Extension {
  return {
    fields: {
      extra_vars: row.extra_data,
      execution_environment: null,
      success_nodes: found?.success_nodes ?? [],
      failure_nodes: found?.failure_nodes ?? [],
      always_nodes: found?.always_nodes ?? [],
    },
    summary_fields: {
      ...(template?.summary ? { unified_job_template: template.summary } : {}),
      ...(row.job_id !== null && found?.may_read_job === true ? { job: summarizeJob(found) } : {}),
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
