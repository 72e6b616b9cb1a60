import type { Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext } from '../common/resource/extension.js';
import { resource } from '../common/resource/registry.js';
import { summarizeTemplates } from '../templates/template-summaries.js';

/**
 * Returns the data of workflow job templates besides their fields
 * (docs/contract/workflows.md#workflow-job-templates).
 */
export const workflowTemplateExtension = (
  rows: readonly Row[],
  context: RepresentContext,
): Promise<Map<number, Extension>> =>
  summarizeTemplates(resource('workflow_job_template'), rows, context);
