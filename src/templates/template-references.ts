import * as json from '../common/fields/json-schema.js';
import type { TemplateName } from './templates.repository.js';

/** Kinds of runs by kind of template. */
const RUN_TYPES: Readonly<Record<string, string>> = {
  job_template: 'job',
  project: 'project_update',
  inventory_source: 'inventory_update',
  system_job_template: 'system_job',
  workflow_job_template: 'workflow_job',
  workflow_approval_template: 'workflow_approval',
};

/** Schema of `summary_fields.unified_job_template` for references to a template of any kind. */
export const TEMPLATE_SUMMARY = json.object(
  {
    id: json.INTEGER,
    name: json.STRING,
    description: json.STRING,
    unified_job_type: json.STRING,
    timeout: json.INTEGER,
  },
  // The description is missing without read permission; only approvals have a timeout.
  ['description', 'timeout'],
);

type NamedTemplate = TemplateName & { may_read: boolean };

/**
 * Returns the summary of a template of any kind for an object that refers to the template. Without read
 * permission, the summary has no description.
 */
export const summarizeReferred = ({
  id,
  type,
  name,
  description,
  timeout,
  may_read,
}: NamedTemplate): object => ({
  id,
  name,
  ...(may_read ? { description } : {}),
  unified_job_type: RUN_TYPES[type] ?? '',
  ...(type === 'workflow_approval_template' ? { timeout } : {}),
});
