import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import { ref } from '../common/resource/resource-schema.js';
import { extendEach, resource, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { querySummaries } from '../common/resource/related-rows.js';
import { sql } from '../database/sql.js';
import { launchedBy, LAUNCHED_BY, summarizeTemplate, RUN_TEMPLATE } from '../runs/launched-by.js';
import { ShownRuns, SOURCE_WORKFLOW_SHOWS } from '../runs/shown-runs.service.js';
import { LABEL_SUMMARY, labelSummaries } from '../labels/label-links.js';

const WORKFLOW_TEMPLATE = 'workflow_job_template';

export const WORKFLOW_JOB_SHOWS: ShownMembers = {
  fields: {
    launched_by: LAUNCHED_BY,
    workflow_job_template: json.described(
      json.orNull(json.INTEGER),
      'Workflow job template that was launched.',
    ),
    is_sliced_job: json.BOOLEAN,
    workflow_nodes: { ...json.STRING, description: 'Path of the list of nodes.' },
  },
  related: ['workflow_job_template', ...SOURCE_WORKFLOW_SHOWS.related],
  summary_fields: {
    ...SOURCE_WORKFLOW_SHOWS.summary_fields,
    unified_job_template: RUN_TEMPLATE,
    workflow_job_template: ref('WorkflowJobTemplateSummary'),
    labels: LABEL_SUMMARY,
  },
};

/**
 * Adds the fields and summaries of workflow jobs that are not columns
 * (docs/contract/workflows.md#workflow-jobs); loaded like those of jobs.
 */
@Injectable()
export class WorkflowJobExtension {
  constructor(private readonly runs: ShownRuns) {}

  async extend(rows: readonly Row[], context: RepresentContext): Promise<Map<number, Extension>> {
    const ids = rows.map(({ id }) => id);
    const launched = rows.flatMap(({ unified_job_template_id: id }) => id ?? []);
    const [facts, labels, templates, sourceOf, variables] = await Promise.all([
      this.runs.facts(rows, context),
      labelSummaries(resource('workflow_job'), ids, context),
      querySummaries(resource(WORKFLOW_TEMPLATE), sql`SELECT unnest(${launched}::int[])`, context),
      this.runs.sourceWorkflows(rows, context),
      this.runs.variables(rows, context),
    ]);
    return extendEach(rows, (row) => {
      const run = facts.get(row.id);
      if (!run) return undefined;
      const template = run.template_type === WORKFLOW_TEMPLATE ? run.template_id : null;
      const summary = template === null ? undefined : templates.get(template);
      const fields = {
        launched_by: launchedBy(run),
        elapsed: run.live_elapsed ?? row.elapsed,
        extra_vars: variables.get(row.id),
        workflow_job_template: template,
        // The contract has this link at the top level; clients look for it in `related`.
        workflow_nodes: `${resource('workflow_job').url(row.id)}workflow_nodes/`,
      };
      const source = sourceOf(run);
      const summaries = {
        ...source.summary_fields,
        ...summarizeTemplate(run),
        ...(summary ? { workflow_job_template: summary } : {}),
        labels: labels.get(row.id),
      };
      const related =
        template === null
          ? source.related
          : {
              workflow_job_template: resource(WORKFLOW_TEMPLATE).url(template),
              ...source.related,
            };
      return { fields, related, summary_fields: summaries };
    });
  }
}
