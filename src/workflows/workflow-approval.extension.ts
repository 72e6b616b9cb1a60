import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import {
  extendEach,
  findResource,
  resource,
  type Row,
} from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { querySummaries } from '../common/resource/related-rows.js';
import { ref } from '../common/resource/resource-schema.js';
import { launchedBy, LAUNCHED_BY, summarizeTemplate, RUN_TEMPLATE } from '../runs/launched-by.js';
import { ShownRuns } from '../runs/shown-runs.service.js';
import { sql } from '../database/sql.js';
import { instantOf } from '../database/instants.js';
import { approvalFacts, type WorkflowApprovalFacts } from './workflow-jobs.repository.js';

const NAMED = { id: json.INTEGER, name: json.STRING, description: json.STRING };

export const APPROVAL_SHOWS: ShownMembers = {
  fields: {
    launched_by: LAUNCHED_BY,
    can_approve_or_deny: json.described(json.BOOLEAN, 'True if the caller may decide.'),
    approval_expiration: json.described(
      json.orNull(json.INSTANT),
      'Time at which the approval fails without a decision.',
    ),
  },
  related: ['workflow_approval_template', 'source_workflow_job', 'job'],
  summary_fields: {
    unified_job_template: RUN_TEMPLATE,
    workflow_approval_template: json.object({ ...NAMED, timeout: json.INTEGER }),
    workflow_job_template: json.object(NAMED),
    source_workflow_job: ref('WorkflowJobSummary'),
  },
};

/**
 * Adds the fields and summaries of approvals that are not columns
 * (docs/contract/workflows.md#approvals), in one statement with the other data of a page.
 */
@Injectable()
export class WorkflowApprovalExtension {
  constructor(private readonly runs: ShownRuns) {}

  async extend(rows: readonly Row[], context: RepresentContext): Promise<Map<number, Extension>> {
    const waitingRunIds = rows.flatMap(({ workflow_job_id: id }) =>
      typeof id === 'number' ? [id] : [],
    );
    const [runs, facts, workflows] = await Promise.all([
      this.runs.facts(rows, context),
      loadFacts(rows, context),
      querySummaries(
        resource('workflow_job'),
        sql`SELECT unnest(${waitingRunIds}::bigint[])`,
        context,
      ),
    ]);
    return extendEach(rows, (row) => {
      const run = runs.get(row.id);
      const approval = facts.get(row.id);
      if (!run || !approval) return undefined;
      const approvalTemplate =
        run.template_id === null
          ? null
          : (findResource('workflow_approval_template')?.url(run.template_id) ?? null);
      const fields = {
        launched_by: launchedBy(run),
        can_approve_or_deny: approval.may_approve,
        approval_expiration: approval.expires,
      };
      const related = {
        workflow_approval_template: approvalTemplate,
        workflow_job: null,
        ...waitingRun(approval),
      };
      const workflow = workflows.get(approval.workflow_job_id ?? 0);
      const summaries = {
        ...(workflow ? { source_workflow_job: workflow } : {}),
        ...summarizeTemplate(run),
        ...(approval.approval_template
          ? { workflow_approval_template: approval.approval_template }
          : {}),
        ...(approval.workflow_template
          ? { workflow_job_template: approval.workflow_template }
          : {}),
      };
      return { fields, related, summary_fields: summaries };
    });
  }
}

/**
 * Returns links to the run that waits: an active workflow job, or a run of any kind before its
 * start.
 */
function waitingRun({ workflow_job_id: id, run_type: type }: WorkflowApprovalFacts) {
  const url = id === null || type === null ? null : resource(type).url(id);
  return type === 'job'
    ? { source_workflow_job: null, job: url }
    : { source_workflow_job: url, job: null };
}

async function loadFacts(
  rows: readonly Row[],
  { actor, batch }: RepresentContext,
): Promise<Map<number, WorkflowApprovalFacts>> {
  const ids = rows.map(({ id }) => id);
  const found = await batch.rows<WorkflowApprovalFacts>(approvalFacts(ids, actor));
  return new Map(
    found.map((approval) => [approval.id, { ...approval, expires: instantOf(approval.expires) }]),
  );
}
