import {
  deletionErrors,
  repetitionErrors,
  resolveLaunch,
  variablesOf,
  withEventRef,
} from './launch-plan.js';
import type { LaunchObjects, LoadedWorkflow } from './launch.loader.js';
import type { LaunchRequest } from './template-launcher.js';
import type { LaunchCheck } from '../runs/launcher.js';
import { refErrors } from '../prompts/branch.js';
import type { PromptedTemplate } from '../prompts/launch-config.js';
import { ASK_SWITCHES, WORKFLOW_PROMPTS, type Prompts } from '../prompts/launch-options.js';
import { INHERITED_PROMPTS, inheritedPrompts, storedPrompts } from '../prompts/prompt-columns.js';
import type { MergedVariables } from '../prompts/launch-variables.js';

/** A planned launch with all data of its workflow job except the nodes. */
export interface PlannedWorkflow extends LaunchCheck<LaunchRequest> {
  template: LoadedWorkflow;
  /** Prompts for the nodes; includes labels if the launch sets any. */
  nodePrompts: Prompts;
  labels: number[];
  variables: MergedVariables;
}

/** Returns the prompts that a workflow job template accepts. */
export function workflowPrompted(template: LoadedWorkflow): PromptedTemplate {
  const { row, labels } = template;
  return {
    ...variablesOf(template),
    promptsFor: (field) => WORKFLOW_PROMPTS.includes(field) && row[ASK_SWITCHES[field]] === true,
    values: {
      ...storedPrompts(row, INHERITED_PROMPTS),
      labels: labels.map(({ id }) => id),
    },
    projectBranch: '',
  };
}

/** Plans one launch: applies the rules to loaded objects, without side effects. */
export function planWorkflow(
  request: LaunchRequest,
  template: LoadedWorkflow,
  objects: LaunchObjects,
): PlannedWorkflow {
  const prompted = workflowPrompted(template);
  const prompts = withEventRef(request, prompted, true);
  const input = { prompted, prompts, fields: WORKFLOW_PROMPTS };
  const resolved = resolveLaunch(request, template, input, objects);
  const { unknown, accepted, effective, variables } = resolved;
  const labels = (accepted.labels ?? []).filter((id) => objects.labels.has(id));
  return {
    request,
    template,
    variables,
    ignored: resolved.ignored,
    isForbidden: resolved.isForbidden,
    nodePrompts: {
      ...nodePrompts(effective, objects),
      ...(labels.length > 0 ? { labels } : {}),
    },
    labels: [...new Set([...template.labels.map(({ id }) => id), ...labels])],
    errors: {
      ...unknown,
      ...deletionErrors(resolved, objects, 'Workflow Job Template'),
      ...variables.errors,
      ...repetitionErrors(template.nodeCount, resolved),
      ...refErrors(accepted),
    },
  };
}

/** Returns the prompts that the workflow passes to its nodes, without a missing inventory. */
function nodePrompts(
  effective: Prompts,
  { inventory: inventories }: Pick<LaunchObjects, 'inventory'>,
): Prompts {
  const { inventory, ...rest } = inheritedPrompts(effective);
  return inventory !== undefined && inventories.has(inventory) ? { inventory, ...rest } : rest;
}
