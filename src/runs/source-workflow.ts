import { ref } from '../common/resource/resource-schema.js';
import type {
  Extension,
  RepresentContext,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { summariesOf } from '../common/resource/represent.js';
import type { RunFacts } from './runs.repository.js';

/** What the workflow around a run adds to its representation. */
export const SOURCE_WORKFLOW_SHOWS = {
  related: ['source_workflow_job'],
  summary_fields: { source_workflow_job: ref('WorkflowJobSummary') },
} satisfies ShownBesides;

type SourceWorkflow = Required<Pick<Extension, 'related' | 'summary_fields'>>;

const NONE: SourceWorkflow = { related: {}, summary_fields: {} };

/** The workflow job of each run that is one's node. A statement where there are any. */
export async function sourceWorkflows(
  facts: ReadonlyMap<number, RunFacts>,
  context: RepresentContext,
): Promise<(run: RunFacts) => SourceWorkflow> {
  const ids = [...facts.values()].flatMap((run) => run.source_id ?? []);
  if (ids.length === 0) return () => NONE;
  const workflows = resource('workflow_job');
  const summaries = await summariesOf(workflows, [...new Set(ids)], context);
  return ({ source_id: id }) => {
    if (id === null) return NONE;
    const summary = summaries.get(id);
    return {
      related: { source_workflow_job: workflows.url(id) },
      summary_fields: summary ? { source_workflow_job: summary } : {},
    };
  };
}
