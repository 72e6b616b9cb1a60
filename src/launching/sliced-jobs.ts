import type { PlannedLaunch } from './launch-check.js';
import type { Prompts } from '../prompts/launch-config.js';
import type { NewWorkflowJob } from '../workflows/workflow-rows.js';

/** Fields of a launch that its slices have no more say in. */
const SETTLED: ReadonlySet<string> = new Set(['extra_vars', 'job_slice_count']);

/**
 * The workflow job of a launch whose hosts are shared out among several jobs
 * (docs/contract/launching.md#slices): they take the hosts and the variables of the whole launch as
 * they were worked out for it.
 */
export function slicedJobOf(plan: PlannedLaunch): NewWorkflowJob {
  const { request, template, effective, variables, slices } = plan;
  const accepted: Prompts = Object.fromEntries(
    Object.entries(plan.accepted).filter(([field]) => !SETTLED.has(field)),
  );
  const { limit, scm_branch, job_tags, skip_tags } = accepted;
  const set = Object.entries({ limit, scm_branch, job_tags, skip_tags });
  const own = template.labels.map(({ id }) => id);
  return {
    name: String(request.name ?? template.row.name),
    description: String(template.row.description),
    templateId: null,
    slicedTemplateId: template.row.id,
    isBulk: false,
    allowSimultaneous: template.row.allow_simultaneous === true,
    organizationId: template.row.organization_id as number | null,
    createdBy: request.createdBy,
    launchType: request.launchType,
    prompts: {
      ...Object.fromEntries(set.filter(([, value]) => value !== undefined)),
      inventory: effective.inventory,
      extra_vars: variables.variables,
    },
    secrets: variables.secrets,
    labels: [...new Set([...own, ...((accepted.labels ?? []) as number[])])],
    ...(request.webhook ? { webhook: request.webhook } : {}),
    nodes: Array.from({ length: slices }, (_, index) => ({
      identifier: `slice ${index + 1}`,
      templateId: template.row.id,
      own: accepted,
      secrets: [],
    })),
  };
}
