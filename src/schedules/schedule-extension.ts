import { entryOf } from '../common/invariants.js';
import { INTEGER, object, orNull, STRING } from '../common/fields/json-schema.js';
import type {
  Extension,
  RepresentContext,
  RowOf,
  ShownBesides,
} from '../common/resource/define-resource.js';
import { TemplatesRepository, type TemplateName } from '../templates/templates.repository.js';
import { Recurrence } from './recurrence.js';
import type { ScheduleSchema } from './schedule.schema.js';

/** Kind of runs by kind of template. */
const RUN_TYPES: Readonly<Record<string, string>> = {
  job_template: 'job',
  project: 'project_update',
  workflow_job_template: 'workflow_job',
};

export const SCHEDULE_SHOWS: ShownBesides = {
  fields: { timezone: STRING, until: STRING, execution_environment: orNull(INTEGER) },
  summary_fields: {
    unified_job_template: object({
      id: INTEGER,
      name: STRING,
      description: STRING,
      unified_job_type: STRING,
    }),
  },
};

/** What a schedule shows besides its fields: of its rule, and of its template by its kind. */
export async function scheduleExtension(
  rows: readonly RowOf<ScheduleSchema>[],
  { actor, find }: RepresentContext,
): Promise<Map<number, Extension>> {
  const ids = rows.map((row) => row.unified_job_template_id);
  const templates = await find(TemplatesRepository).named(ids, actor);
  const byId = new Map(templates.map((template) => [template.id, template]));
  return new Map(
    rows.map((row) => {
      const template = entryOf(byId, row.unified_job_template_id);
      const { timezone, until } = Recurrence.parse(String(row.rrule));
      return [
        row.id,
        {
          fields: { timezone, until, execution_environment: null },
          summary_fields: template.may_read ? { unified_job_template: summaryOf(template) } : {},
        },
      ];
    }),
  );
}

const summaryOf = ({ id, name, description, type }: TemplateName): object => ({
  ...{ id, name, description },
  unified_job_type: RUN_TYPES[type] ?? '',
});
