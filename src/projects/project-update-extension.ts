import type { Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownBesides } from '../common/resource/extension.js';
import {
  launchedBy,
  LAUNCHED_BY,
  loadRunFacts,
  summarizeTemplate,
  LAUNCHED_TEMPLATE_SUMMARY,
} from '../runs/launched-by.js';
import { SOURCE_WORKFLOW_SHOWS, sourceWorkflows } from '../runs/source-workflow.js';

export const PROJECT_UPDATE_SHOWS: ShownBesides = {
  ...SOURCE_WORKFLOW_SHOWS,
  fields: { launched_by: LAUNCHED_BY },
  summary_fields: {
    ...SOURCE_WORKFLOW_SHOWS.summary_fields,
    unified_job_template: LAUNCHED_TEMPLATE_SUMMARY,
  },
};

export async function projectUpdateExtension(
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const [facts, sourceOf] = await Promise.all([
    loadRunFacts(rows, context),
    sourceWorkflows(rows, context),
  ]);
  return new Map(
    rows.flatMap((row): [number, Extension][] => {
      const run = facts.get(row.id);
      if (!run) return [];
      const source = sourceOf(run);
      return [
        [
          row.id,
          {
            fields: { launched_by: launchedBy(run), elapsed: run.live_elapsed ?? row.elapsed },
            related: source.related,
            summary_fields: {
              ...source.summary_fields,
              ...summarizeTemplate(run, 'project_update'),
            },
          },
        ],
      ];
    }),
  );
}
