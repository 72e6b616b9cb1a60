import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import { extendEach, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { summarizeReferred, TEMPLATE_SUMMARY } from '../templates/template-references.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import type { WorkflowJobNode } from './workflow-job-node.entity.js';
import { WorkflowJobNodesRepository, type NodeFacts } from './workflow-job-nodes.repository.js';

const NODE_IDS = json.described(json.list(json.WIDE_INTEGER), 'Ids of the nodes that follow.');

export const NODE_SHOWS: ShownMembers = {
  fields: {
    extra_vars: json.freeObject('The variables of the node, as in extra_data.'),
    success_nodes: NODE_IDS,
    failure_nodes: NODE_IDS,
    always_nodes: NODE_IDS,
  },
  summary_fields: {
    unified_job_template: TEMPLATE_SUMMARY,
    job: json.object(
      {
        id: json.WIDE_INTEGER,
        name: json.STRING,
        description: json.STRING,
        status: json.STRING,
        failed: json.BOOLEAN,
        elapsed: json.NUMBER,
        type: json.STRING,
        canceled_on: json.orNull(json.INSTANT),
        timed_out: json.BOOLEAN,
      },
      // Without permission to read the run, only its id and name are included.
      ['description', 'status', 'failed', 'elapsed', 'type', 'canceled_on', 'timed_out'],
    ),
  },
};

/** Adds the template, the run and the children of each node, with two statements per page. */
@Injectable()
export class WorkflowJobNodeExtension {
  constructor(
    private readonly nodes: WorkflowJobNodesRepository,
    private readonly templates: TemplatesRepository,
  ) {}

  async extend(
    rows: readonly RowOf<WorkflowJobNode>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const ids = rows.map(({ id }) => id);
    const found = await this.nodes.facts(ids, context.actor);
    const byNode = new Map(found.map((node) => [node.node_id, node]));
    const templateIds = rows.flatMap((row) => row.unified_job_template_id ?? []);
    const named = await this.templates.named(templateIds, context.actor);
    const templates = new Map(named.map((template) => [template.id, summarizeReferred(template)]));
    return extendEach(rows, (row) => {
      const template = templates.get(row.unified_job_template_id ?? 0);
      return describe(row, byNode.get(row.id), template);
    });
  }
}

function describe(
  row: RowOf<WorkflowJobNode>,
  found: NodeFacts | undefined,
  template: object | undefined,
): Extension {
  return {
    fields: {
      extra_vars: row.extra_data,
      success_nodes: found?.success_nodes ?? [],
      failure_nodes: found?.failure_nodes ?? [],
      always_nodes: found?.always_nodes ?? [],
    },
    summary_fields: {
      ...(template ? { unified_job_template: template } : {}),
      ...(found && found.id !== null ? { job: summarizeJob(found) } : {}),
    },
  };
}

function summarizeJob({ id, name, description, status, failed, ...rest }: NodeFacts): object {
  if (rest.may_read_job !== true) return { id, name };
  const { elapsed, job_type: type, canceled_on, timed_out } = rest;
  return {
    id,
    name,
    description,
    status,
    failed,
    elapsed,
    type,
    canceled_on,
    ...(type === 'workflow_approval' ? { timed_out } : {}),
  };
}
