import { permit } from '../common/access.js';
import { INTEGER, object, STRING } from '../common/fields/json-schema.js';
import type { RepresentContext, Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { sql } from '../database/sql.js';

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

interface Referenced extends Row {
  type: string;
  name: string;
  description: string;
  timeout: number | null;
  may_read: boolean;
}

/** References to templates only know that they are some kind: this tells which, in one statement. */
export async function templateReferences(
  ids: readonly number[],
  { database, actor }: Pick<RepresentContext, 'database' | 'actor'>,
): Promise<Map<number, TemplateReference>> {
  const found = await database.rows<Referenced>(sql`
    SELECT tpl.id, tpl.type, tpl.name, tpl.description, tpl.timeout,
      (${permit(resource('unified_job_template').policy, 'read', 'tpl', actor)}) AS may_read
    FROM unified_job_templates tpl WHERE tpl.id = ANY(${ids}::int[])`);
  return new Map(found.map((one) => [one.id, { summary: one.may_read ? summarize(one) : null }]));
}

function summarize({ id, type, name, description, timeout }: Referenced): Record<string, unknown> {
  return {
    id,
    name,
    description,
    unified_job_type: RUN_TYPES[type] ?? '',
    ...(type === 'workflow_approval_template' ? { timeout } : {}),
  };
}
