import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownBesides } from '../common/resource/extension.js';
import { launchedBy, LAUNCHED_BY, summarizeTemplate, RUN_TEMPLATE } from '../runs/launched-by.js';
import { ShownRuns, SOURCE_WORKFLOW_SHOWS } from '../runs/shown-runs.service.js';

export const PROJECT_UPDATE_SHOWS: ShownBesides = {
  ...SOURCE_WORKFLOW_SHOWS,
  fields: { launched_by: LAUNCHED_BY },
  summary_fields: {
    ...SOURCE_WORKFLOW_SHOWS.summary_fields,
    unified_job_template: RUN_TEMPLATE,
  },
};

@Injectable()
export class ProjectUpdateExtension {
  constructor(private readonly runs: ShownRuns) {}

  async extend(rows: readonly Row[], context: RepresentContext): Promise<Map<number, Extension>> {
    const [facts, sourceOf] = await Promise.all([
      this.runs.facts(rows, context),
      this.runs.sourceWorkflows(rows, context),
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
}
