import { INTEGER, orNull, STRING } from '../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  RowOf,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { TEMPLATE_SUMMARY, templateReferences } from '../templates/template-references.js';
import { Recurrence } from './recurrence.js';
import type { ScheduleSchema } from './schedule.schema.js';

export const SCHEDULE_SHOWS: ShownBesides = {
  fields: { timezone: STRING, until: STRING, execution_environment: orNull(INTEGER) },
  summary_fields: { unified_job_template: TEMPLATE_SUMMARY },
};

/** What a schedule shows besides its fields: of its rule, and of its template by its kind. */
export async function scheduleExtension(
  rows: readonly RowOf<ScheduleSchema>[],
  context: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map((row) => row.unified_job_template_id);
  const templates = await templateReferences(ids, context);
  return new Map(
    rows.map((row) => {
      const template = templates.get(row.unified_job_template_id);
      const { timezone = '', until = '' } = Recurrence.stored(row.rrule) ?? {};
      const extension: Extension = {
        fields: { timezone, until, execution_environment: null },
        summary_fields: template ? { unified_job_template: template } : {},
      };
      return [row.id, extension];
    }),
  );
}
