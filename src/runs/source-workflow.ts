import { ref } from '../common/resource/resource-schema.js';
import type { Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownBesides } from '../common/resource/extension.js';
import { resource } from '../common/resource/registry.js';
import { summariesAmong } from '../common/resource/related-rows.js';
import { sql } from '../database/sql.js';
import { RunWorkflows } from './run-causes.js';
import type { RunFacts } from './runs.repository.js';

/** Fields that the surrounding workflow adds to a run's representation. */
export const SOURCE_WORKFLOW_SHOWS = {
  related: ['source_workflow_job'],
  summary_fields: { source_workflow_job: ref('WorkflowJobSummary') },
} satisfies ShownBesides;

type SourceWorkflow = Required<Pick<Extension, 'related' | 'summary_fields'>>;

const NONE: SourceWorkflow = { related: {}, summary_fields: {} };

/**
 * Returns the workflow job of each run that is a workflow node. The query is combined with other
 * queries of the same moment.
 */
export async function sourceWorkflows(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<(run: RunFacts) => SourceWorkflow> {
  const steps = rows.filter(({ launch_type: type }) => type === 'workflow').map(({ id }) => id);
  if (steps.length === 0) return () => NONE;
  const workflows = resource('workflow_job');
  const nodes = context.find(RunWorkflows).nodesOfRuns();
  const summaries = await summariesAmong(
    workflows,
    sql`SELECT node.workflow_job_id FROM (${nodes}) node WHERE node.job_id = ANY(${steps}::bigint[])`,
    context,
  );
  return ({ source_id: id }) => {
    if (id === null) return NONE;
    const summary = summaries.get(id);
    return {
      related: { source_workflow_job: workflows.url(id) },
      summary_fields: summary ? { source_workflow_job: summary } : {},
    };
  };
}
