import { permit } from '../common/access.js';
import { BOOLEAN, INSTANT, INTEGER, object, orNull, STRING } from '../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  Row,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { findResource, resource } from '../common/resource/registry.js';
import { sql } from '../database/sql.js';
import {
  launchedBy,
  LAUNCHED_BY,
  loadRunFacts,
  summarizeTemplate,
  TEMPLATE_SUMMARY,
} from '../runs/launched-by.js';

interface ApprovalFacts extends Row {
  may_approve: boolean;
  expires: string | null;
  workflow_job_id: number | null;
  workflow_template: object | null;
  approval_template: object | null;
}

const NAMED = { id: INTEGER, name: STRING, description: STRING };

export const APPROVAL_SHOWS: ShownBesides = {
  fields: {
    launched_by: LAUNCHED_BY,
    can_approve_or_deny: BOOLEAN,
    approval_expiration: orNull(INSTANT),
  },
  related: ['workflow_approval_template', 'source_workflow_job'],
  summary_fields: {
    unified_job_template: TEMPLATE_SUMMARY,
    workflow_approval_template: object({ ...NAMED, timeout: INTEGER }),
    workflow_job_template: object(NAMED),
  },
};

/**
 * Fields and summaries of approvals that are no columns (docs/contract/workflows.md#approvals), in
 * two statements a page.
 */
export async function workflowApprovalExtension(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const runs = await loadRunFacts(context.database, rows);
  const facts = await loadFacts(rows, context);
  return new Map(
    rows.flatMap((row): [number, Extension][] => {
      const run = runs.get(row.id);
      const own = facts.get(row.id);
      if (!run || !own) return [];
      const approvalTemplate =
        run.template_id === null
          ? null
          : (findResource('workflow_approval_template')?.url(run.template_id) ?? null);
      const fields = {
        launched_by: launchedBy(run),
        can_approve_or_deny: own.may_approve,
        approval_expiration: own.expires,
      };
      const related = {
        workflow_approval_template: approvalTemplate,
        workflow_job: null,
        source_workflow_job:
          own.workflow_job_id === null ? null : resource('workflow_job').url(own.workflow_job_id),
      };
      const summaries = {
        ...summarizeTemplate(run, 'workflow_approval'),
        ...(own.approval_template ? { workflow_approval_template: own.approval_template } : {}),
        ...(own.workflow_template ? { workflow_job_template: own.workflow_template } : {}),
      };
      return [[row.id, { fields, related, summary_fields: summaries }]];
    }),
  );
}

/** Whoever reads an approval reads the template of its workflow by the same role. */
async function loadFacts(
  rows: readonly Row[],
  { database, actor }: RepresentContext,
): Promise<Map<number, ApprovalFacts>> {
  const { policy } = resource('workflow_approval');
  const found = await database.preparedRows<ApprovalFacts>(sql`
    SELECT run.id, run.workflow_job_id,
      run.status = 'pending' AND (${permit(policy, 'approve', 'run', actor)}) AS may_approve,
      CASE WHEN run.status = 'pending' AND run.timeout > 0
        THEN run.created + make_interval(secs => run.timeout) END AS expires,
      CASE WHEN tpl.id IS NOT NULL THEN json_build_object('id', tpl.id, 'name', tpl.name,
        'description', tpl.description, 'timeout', tpl.timeout) END AS approval_template,
      CASE WHEN wft.id IS NOT NULL THEN json_build_object('id', wft.id, 'name', wft.name,
        'description', wft.description) END AS workflow_template
    FROM unified_jobs run
    LEFT JOIN unified_job_templates tpl ON tpl.id = run.unified_job_template_id
    LEFT JOIN unified_jobs workflow ON workflow.id = run.workflow_job_id
    LEFT JOIN unified_job_templates wft ON wft.id = workflow.unified_job_template_id
    WHERE run.id = ANY(${rows.map(({ id }) => id)}::int[])`);
  return new Map(found.map((one) => [one.id, one]));
}
