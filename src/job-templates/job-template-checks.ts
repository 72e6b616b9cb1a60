import type { FieldErrors } from '../common/errors/errors.js';
import type { TemplateProject } from './template-projects.service.js';
import { refErrors } from '../prompts/branch.js';

/**
 * Inputs of the checks of a template: its fields after the request, and the objects they refer to.
 */
export interface TemplateFacts {
  /** Returns the value of a field after the change. */
  value(field: string): unknown;
  /** Returns true if the request contains one of the fields. */
  changes(...fields: readonly string[]): boolean;
  project: Pick<TemplateProject, 'allow_override' | 'playbooks'> | null;
}

/**
 * Returns the errors of all fields of a job template
 * (docs/contract/resources.md#job-templates).
 */
export function templateErrors(facts: TemplateFacts, limits: { maxForks: number }): FieldErrors {
  return {
    ...projectErrors(facts),
    ...inventoryErrors(facts),
    ...branchErrors(facts),
    ...(Number(facts.value('forks')) > limits.maxForks && facts.changes('forks')
      ? { forks: [`Maximum number of forks (${limits.maxForks}) exceeded.`] }
      : {}),
  };
}

function projectErrors({ value, changes, project }: TemplateFacts): FieldErrors {
  if (!changes('project', 'playbook')) return {};
  if (!project) return { project: ['Job Templates must have a project assigned.'] };
  const playbook = value('playbook');
  if (playbook === '') return { playbook: ['Must select playbook for project.'] };
  // Another branch can contain other playbooks.
  const known = project.allow_override ? null : project.playbooks;
  return known && !known.includes(String(playbook))
    ? { playbook: ['Playbook not found for project.'] }
    : {};
}

function inventoryErrors({ value, changes }: TemplateFacts): FieldErrors {
  const errors: FieldErrors = {};
  const asks = value('ask_inventory_on_launch') === true;
  if (changes('inventory', 'ask_inventory_on_launch') && value('inventory') === null && !asks) {
    errors.inventory = ['You must either set a default value or ask to prompt on launch.'];
  }
  const isCallback = value('host_config_key') !== '';
  if (
    changes('inventory', 'ask_inventory_on_launch', 'host_config_key') &&
    isCallback &&
    value('inventory') === null
  ) {
    errors.host_config_key = ['Cannot enable provisioning callback without an inventory set.'];
  }
  return errors;
}

function branchErrors({ value, changes, project }: TemplateFacts): FieldErrors {
  if (!changes('scm_branch', 'ask_scm_branch_on_launch', 'project')) return {};
  const errors: FieldErrors = {};
  const branch = value('scm_branch') ?? '';
  const isFixed = project?.allow_override !== true;
  const message = ['Project does not allow overriding branch.'];
  if (branch !== '' && isFixed) errors.scm_branch = message;
  else Object.assign(errors, refErrors({ scm_branch: branch }));
  if (value('ask_scm_branch_on_launch') === true && isFixed) {
    errors.ask_scm_branch_on_launch = message;
  }
  return errors;
}
