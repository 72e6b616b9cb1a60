import type { PlannedLaunch } from './launch-check.js';
import { ROW_BYTES } from '../common/parts.js';
import { PROMPT_FIELDS, promptsIn, type PromptField } from '../prompts/launch-options.js';
import { INHERITED_PROMPTS } from '../prompts/prompt-columns.js';
import type { NewWorkflowJob } from '../workflows/workflow-rows.service.js';

/** Fields of a launch that are fixed for all of its slices. */
const FIXED_FIELDS: ReadonlySet<PromptField> = new Set(['extra_vars', 'job_slice_count']);

/** Returns the number of characters that all slices of a launch store. */
export const sizeOfSlices = ({ effective: { limit = '' }, slices }: PlannedLaunch): number =>
  slices * (limit.length + ROW_BYTES);

/**
 * Returns the workflow job of a launch whose hosts are divided among several jobs
 * (docs/contract/launching.md#slices). Its jobs use the hosts and variables that were determined
 * for the whole launch.
 */
export function slicedJobOf(plan: PlannedLaunch): NewWorkflowJob {
  const { request, template, effective, variables, slices } = plan;
  const accepted = promptsIn(
    plan.accepted,
    PROMPT_FIELDS.filter((field) => !FIXED_FIELDS.has(field)),
  );
  const { inventory } = effective;
  const templateLabels = template.labels.map(({ id }) => id);
  return {
    name: String(request.name ?? template.row.name),
    description: String(template.row.description),
    templateId: null,
    slicedTemplateId: template.row.id,
    isBulk: false,
    allowSimultaneous: template.row.allow_simultaneous === true,
    organizationId: template.row.organization_id,
    createdBy: request.createdBy,
    launchType: request.launchType,
    prompts: {
      ...promptsIn(
        accepted,
        INHERITED_PROMPTS.map(([field]) => field),
      ),
      ...(inventory === undefined ? {} : { inventory }),
      ...promptsIn(plan.accepted, ['job_slice_count']),
      extra_vars: variables.variables,
    },
    secrets: variables.secrets,
    labels: [...new Set([...templateLabels, ...(accepted.labels ?? [])])],
    ...(request.webhook ? { webhook: request.webhook } : {}),
    isHeld: request.isHeld === true,
    nodes: Array.from({ length: slices }, (_, index) => ({
      identifier: `slice ${index + 1}`,
      templateId: template.row.id,
      prompts: accepted,
      secrets: [],
    })),
  };
}
