import { INTEGER, object, STRING } from '../common/fields/json-schema.js';
import type { RepresentContext } from '../common/resource/define-resource.js';
import { TemplatesRepository, type TemplateName } from './templates.repository.js';

/** Kind of runs by kind of template. */
const RUN_TYPES: Readonly<Record<string, string>> = {
  job_template: 'job',
  project: 'project_update',
  inventory_source: 'inventory_update',
  system_job_template: 'system_job',
  workflow_job_template: 'workflow_job',
  workflow_approval_template: 'workflow_approval',
};

/** `summary_fields.unified_job_template` of what refers to a template of whatever kind. */
export const TEMPLATE_SUMMARY = object(
  {
    id: INTEGER,
    name: STRING,
    description: STRING,
    unified_job_type: STRING,
    timeout: INTEGER,
  },
  // A caller who may not read the template sees no description; approvals alone have a timeout.
  ['description', 'timeout'],
);

/**
 * Templates as objects that refer to them show them, in one statement: references only know that they
 * are to some kind. Of those that the caller may not read, id, name and kind are shown.
 */
export async function templateReferences(
  ids: readonly number[],
  { actor, find }: Pick<RepresentContext, 'actor' | 'find'>,
): Promise<Map<number, object>> {
  const found = await find(TemplatesRepository).named(ids, actor);
  return new Map(found.map((one) => [one.id, summarizeReferred(one)]));
}

type NamedTemplate = TemplateName & { may_read: boolean };

/** A template as objects that refer to it show it. */
export const summarizeReferred = ({
  id,
  type,
  name,
  description,
  timeout,
  may_read,
}: NamedTemplate): object => ({
  ...{ id, name, ...(may_read ? { description } : {}) },
  unified_job_type: RUN_TYPES[type] ?? '',
  ...(type === 'workflow_approval_template' ? { timeout } : {}),
});
