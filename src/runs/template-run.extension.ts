import { Injectable } from '@nestjs/common';
import { extendEach, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { launchedBy, LAUNCHED_BY, summarizeTemplate, RUN_TEMPLATE } from './launched-by.js';
import { ShownRuns, SOURCE_WORKFLOW_SHOWS } from './shown-runs.service.js';

export const TEMPLATE_RUN_SHOWS: ShownMembers = {
  ...SOURCE_WORKFLOW_SHOWS,
  fields: { launched_by: LAUNCHED_BY },
  summary_fields: {
    ...SOURCE_WORKFLOW_SHOWS.summary_fields,
    unified_job_template: RUN_TEMPLATE,
  },
};

/** Adds the data that only one kind of runs has to the extensions of its runs. */
export function addToExtensions<Run extends Row>(
  extensions: Map<number, Extension>,
  runs: readonly Run[],
  dataOf: (run: Run) => Pick<Extension, 'fields' | 'summary_fields'>,
): Map<number, Extension> {
  for (const run of runs) {
    const extension = extensions.get(run.id);
    if (!extension) continue;
    const { fields, summary_fields } = dataOf(run);
    extensions.set(run.id, {
      ...extension,
      fields: { ...extension.fields, ...fields },
      summary_fields: { ...extension.summary_fields, ...summary_fields },
    });
  }
  return extensions;
}

/** Adds the template, the cause of the launch and the surrounding workflow job to runs. */
@Injectable()
export class TemplateRunExtension {
  constructor(private readonly runs: ShownRuns) {}

  async extend(rows: readonly Row[], context: RepresentContext): Promise<Map<number, Extension>> {
    const [facts, sourceOf] = await Promise.all([
      this.runs.facts(rows, context),
      this.runs.sourceWorkflows(rows, context),
    ]);
    return extendEach(rows, (row) => {
      const run = facts.get(row.id);
      if (!run) return undefined;
      const { related, summary_fields } = sourceOf(run);
      const fields = {
        launched_by: launchedBy(run),
        elapsed: run.live_elapsed ?? row.elapsed,
      };
      const template = summarizeTemplate(run);
      return { fields, related, summary_fields: { ...summary_fields, ...template } };
    });
  }
}
