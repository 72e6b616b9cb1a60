import { tableOf } from '../common/records.js';
import type { LaunchAnswer } from '../prompts/launch-form.js';
import { switchesOf, WORKFLOW_PROMPTS, type PromptField } from '../prompts/launch-options.js';
import { savedPromptErrors } from '../prompts/saved-prompt-errors.js';
import { requiredVariables } from '../prompts/survey.js';
import type { SavedLaunchTarget } from '../prompts/saved-launch-targets.js';
import type { SavedNode, LoadedWorkflow } from './workflow-launch.loader.js';

/** A workflow job template with the data that determines if it can be launched. */
export interface LaunchSubject {
  template: LoadedWorkflow;
  nodes: readonly SavedNode[];
  nodeTemplates: ReadonlyMap<number, SavedLaunchTarget>;
  /** Inventory of the template; null without permission to read it. */
  inventory: { id: number; name: string } | null;
}

/**
 * Returns the requirements and prompts of a workflow's launch: the response to GET
 * (docs/contract/launching.md#what-a-launch-needs).
 */
export function describeWorkflowLaunch(subject: LaunchSubject): LaunchAnswer {
  const { template, nodes, nodeTemplates } = subject;
  const { row, survey } = template;
  const switches = switchesOf(row, WORKFLOW_PROMPTS);
  const variables = survey ? requiredVariables(survey) : [];
  const missing = nodes.filter(({ templateId }) => !nodeTemplates.has(templateId ?? 0));
  const rejected = nodes.filter((node) => {
    const target = nodeTemplates.get(node.templateId ?? 0);
    return target && Object.keys(savedPromptErrors(target, node.prompts)).length > 0;
  });
  const faults = [...variables, ...missing, ...rejected];
  return {
    can_start_without_user_input: faults.length === 0 && !Object.values(switches).includes(true),
    ...switches,
    survey_enabled: survey !== null,
    variables_needed_to_start: variables,
    node_templates_missing: missing.map(({ id }) => id),
    node_prompts_rejected: rejected.map(({ id }) => id),
    workflow_job_template_data: { name: row.name, id: row.id, description: row.description },
    defaults: tableOf(WORKFLOW_PROMPTS, (field) => defaultOf(field, subject)),
  };
}

function defaultOf(field: PromptField, { template, inventory }: LaunchSubject): unknown {
  if (field === 'inventory') return inventory ?? {};
  if (field === 'labels') return template.labels;
  return template.row[field];
}
