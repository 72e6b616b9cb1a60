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
  // Of approvals only.
  ['timeout'],
);

/** A template of whatever kind as an object that refers to it shows it. */
export interface TemplateReference {
  /** For `summary_fields.unified_job_template`; null when the caller may not read the template. */
  summary: Record<string, unknown> | null;
}

/** References to templates only know that they are some kind: this tells which, in one statement. */
export async function templateReferences(
  ids: readonly number[],
  { actor, find }: Pick<RepresentContext, 'actor' | 'find'>,
): Promise<Map<number, TemplateReference>> {
  const found = await find(TemplatesRepository).named(ids, actor);
  return new Map(found.map((one) => [one.id, { summary: one.may_read ? summarize(one) : null }]));
}

function summarize({
  id,
  type,
  name,
  description,
  timeout,
}: TemplateName): Record<string, unknown> {
  return {
    id,
    name,
    description,
    unified_job_type: RUN_TYPES[type] ?? '',
    ...(type === 'workflow_approval_template' ? { timeout } : {}),
  };
}
