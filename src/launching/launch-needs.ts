import { tableOf } from '../common/records.js';
import type { LaunchAnswer } from '../prompts/launch-form.js';
import { vaultPasswordName } from '../credentials/types/inputs.js';
import { PROMPT_FIELDS, switchesOf, type PromptField } from '../prompts/launch-options.js';
import { requiredVariables } from '../prompts/survey.js';
import { neededPasswords } from './launch-check.js';
import type { LaunchTemplate } from './launch.loader.js';
import type { LaunchCredential } from '../prompts/saved-launch-targets.js';

/**
 * Returns the requirements and prompts of a launch: the response to GET
 * (docs/contract/launching.md#what-a-launch-needs).
 */
export function describeLaunch(template: LaunchTemplate): LaunchAnswer {
  const { row, survey, inventory, project, credentials } = template;
  const passwords = neededPasswords(credentials);
  const variables = survey ? requiredVariables(survey) : [];
  const switches = switchesOf(row, PROMPT_FIELDS);
  const isReady = project !== null && inventory !== null && !inventory.isPendingDeletion;
  return {
    can_start_without_user_input:
      isReady &&
      passwords.length === 0 &&
      variables.length === 0 &&
      !Object.values(switches).includes(true),
    passwords_needed_to_start: passwords,
    ...switches,
    survey_enabled: survey !== null,
    variables_needed_to_start: variables,
    credential_needed_to_start: false,
    inventory_needed_to_start: inventory === null,
    job_template_data: { name: row.name, id: row.id, description: row.description },
    defaults: tableOf(PROMPT_FIELDS, (field) => defaultOf(field, template)),
  };
}

function defaultOf(
  field: PromptField,
  { row, inventory, credentials, labels, instanceGroups }: LaunchTemplate,
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
      return {};
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
