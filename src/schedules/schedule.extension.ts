import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import { extendEach, resource, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { summarizeReferred, TEMPLATE_SUMMARY } from '../templates/template-references.js';
import { TemplatesRepository } from '../templates/templates.repository.js';
import { Recurrence } from './recurrence.js';
import type { Schedule } from './schedule.entity.js';

export const SCHEDULE_SHOWS: ShownMembers = {
  fields: { timezone: json.STRING, until: json.STRING },
  related: ['unified_jobs', 'project'],
  summary_fields: { unified_job_template: TEMPLATE_SUMMARY },
};

/** Adds the time zone and end of a schedule's rule, and data of its template. */
@Injectable()
export class ScheduleExtension {
  constructor(private readonly templates: TemplatesRepository) {}

  async extend(
    rows: readonly RowOf<Schedule>[],
    { actor }: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const ids = rows.map((row) => row.unified_job_template_id);
    const found = await this.templates.named(ids, actor);
    const templates = new Map(found.map((template) => [template.id, template]));
    return extendEach(rows, (row) => {
      const template = templates.get(row.unified_job_template_id);
      const project = template?.project_id ?? null;
      const { timezone = '', until = '' } = Recurrence.parseStored(row.rrule) ?? {};
      return {
        fields: { timezone, until },
        related: {
          // The name that clients expect; the name in the URL is `jobs`.
          unified_jobs: `${resource('schedule').url(row.id)}jobs/`,
          // No link to the template's inventory: exports would read it as the schedule's own field.
          ...(project === null ? {} : { project: resource('project').url(project) }),
        },
        summary_fields: template ? { unified_job_template: summarizeReferred(template) } : {},
      };
    });
  }
}
