import { tableOf } from '../common/records.js';
import type { LaunchResponse } from '../prompts/launch-form.js';
import { vaultPasswordName } from '../credentials/types/inputs.js';
import {
  PROMPT_FIELDS,
  switchesOf,
  WORKFLOW_PROMPTS,
  type PromptField,
} from '../prompts/launch-options.js';
import type { LaunchCredential, SavedLaunchTarget } from '../prompts/saved-launch-targets.js';
import { savedPromptErrors } from '../prompts/saved-prompt-errors.js';
import { requiredVariables } from '../prompts/survey.js';
import { neededPasswords } from './launch-check.js';
import type { LaunchableTemplate } from './launch-plan.js';
import type { LaunchTemplate, SavedNode, LoadedWorkflow } from './launch.loader.js';

/** A workflow job template with the data that determines if it can be launched. */
export interface LaunchSubject {
  template: LoadedWorkflow;
  nodes: readonly SavedNode[];
  nodeTemplates: ReadonlyMap<number, SavedLaunchTarget>;
  /** Inventory of the template; null if the template has none. */
  inventory: { id: number; name: string } | null;
}

/**
 * Returns the requirements and prompts of a launch: the response to GET
 * (docs/contract/launching.md#what-a-launch-needs).
 */
export function describeLaunch(template: LaunchTemplate): LaunchResponse {
  const { row, inventory, project, credentials } = template;
  const passwords = neededPasswords(credentials);
  const isReady = project !== null && inventory !== null && !inventory.isPendingDeletion;
  return {
    ...commonNeeds(template, PROMPT_FIELDS, isReady && passwords.length === 0),
    passwords_needed_to_start: passwords,
    credential_needed_to_start: false,
    inventory_needed_to_start: inventory === null,
    job_template_data: { name: row.name, id: row.id, description: row.description },
    defaults: tableOf(PROMPT_FIELDS, (field) => defaultOf(field, template)),
  };
}

/** Returns the requirements and prompts of a workflow's launch. */
export function describeWorkflowLaunch(subject: LaunchSubject): LaunchResponse {
  const { template, nodes, nodeTemplates, inventory } = subject;
  const { row, labels } = template;
  const missing = nodes.filter(({ templateId }) => !nodeTemplates.has(templateId ?? 0));
  const rejected = nodes.filter((node) => {
    const target = nodeTemplates.get(node.templateId ?? 0);
    return target && Object.keys(savedPromptErrors(target, node.prompts)).length > 0;
  });
  const own: Partial<Record<PromptField, unknown>> = { inventory: inventory ?? {}, labels };
  const lacksInventory = row.inventory_id !== null && inventory === null;
  const isReady = missing.length + rejected.length === 0 && !lacksInventory;
  return {
    ...commonNeeds(template, WORKFLOW_PROMPTS, isReady),
    node_templates_missing: missing.map(({ id }) => id),
    node_prompts_rejected: rejected.map(({ id }) => id),
    workflow_job_template_data: { name: row.name, id: row.id, description: row.description },
    defaults: tableOf(WORKFLOW_PROMPTS, (field) => own[field] ?? row[field]),
  };
}

/** @param isReady true if the launch needs no input besides answers to prompts */
function commonNeeds(
  { row, survey }: LaunchableTemplate,
  fields: readonly PromptField[],
  isReady: boolean,
): Record<string, unknown> {
  const switches = switchesOf(row, fields);
  const variables = survey ? requiredVariables(survey) : [];
  return {
    can_start_without_user_input:
      isReady && variables.length === 0 && !Object.values(switches).includes(true),
    ...switches,
    survey_enabled: survey !== null,
    variables_needed_to_start: variables,
  };
}

function defaultOf(
  field: PromptField,
  { row, inventory, environment, credentials, labels, instanceGroups }: LaunchTemplate,
): unknown {
  switch (field) {
    case 'inventory':
      return inventory ? { name: inventory.name, id: inventory.id } : {};
    case 'credentials':
      return credentials.map(describeCredential);
    case 'labels':
      return labels.map(({ id, name }) => ({ id, name }));
    case 'instance_groups':
      return instanceGroups.map(({ id, name }) => ({ id, name }));
    case 'execution_environment':
      return environment ? { name: environment.name, id: environment.id } : {};
    default:
      return row[field];
  }
}

function describeCredential(credential: LaunchCredential): Record<string, unknown> {
  const { id, name, credentialTypeId, passwordsNeeded, type, inputs } = credential;
  const vaultId = vaultPasswordName(inputs).replace(/^vault_password\.?/, '');
  return {
    id,
    name,
    credential_type: credentialTypeId,
    passwords_needed: passwordsNeeded,
    ...(type.kind === 'vault' && vaultId !== '' ? { vault_id: vaultId } : {}),
  };
}
