import type {
  Extension,
  RepresentContext,
  Row,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import {
  launchedBy,
  LAUNCHED_BY,
  loadRunFacts,
  summarizeTemplate,
  TEMPLATE_SUMMARY,
} from '../jobs/launched-by.js';

export const PROJECT_UPDATE_SHOWS: ShownBesides = {
  fields: { launched_by: LAUNCHED_BY },
  summary_fields: { unified_job_template: TEMPLATE_SUMMARY },
};

export async function projectUpdateExtension(
  rows: readonly Row[],
  { database }: RepresentContext,
): Promise<Map<number, Extension>> {
  const facts = await loadRunFacts(database, rows);
  return new Map(
    rows.flatMap((row): [number, Extension][] => {
      const run = facts.get(row.id);
      if (!run) return [];
      const template = run.template_id;
      return [
        [
          row.id,
          {
            fields: { launched_by: launchedBy(run), elapsed: run.live_elapsed ?? row.elapsed },
            related: {
              unified_job_template: template === null ? null : resource('project').url(template),
            },
            summary_fields: summarizeTemplate(run, 'project_update'),
          },
        ],
      ];
    }),
  );
}
