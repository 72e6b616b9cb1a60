import type { FieldErrors } from '../../common/errors/errors.js';

export interface NamedTemplate {
  id: number;
  name: string;
}

const JOB = 'Job spawned from workflow could not start because it';
const WORKFLOW = 'Workflow Job spawned from workflow could not start because it';
/** Fields whose launch errors concern a project or an inventory. */
const RESOURCES = ['project', 'playbook', 'inventory', 'resources_needed_to_start'];

/**
 * Returns the explanation of a node whose run failed without having started
 * (docs/contract/workflows.md#nodes-that-cannot-start); empty without errors.
 */
export function couldNotStart(errors: FieldErrors): string {
  const fields = Object.keys(errors);
  if (fields.length === 0) return '';
  const reason = fields.some((field) => RESOURCES.includes(field))
    ? 'was missing a related resource such as project or inventory'
    : 'was not in the right state or required manual credentials';
  const texts = Object.values(errors).flat().map(String);
  return `${JOB} ${reason} (${texts.join(' ')})`;
}

/** @param order templates of the nested workflows, the most recently started one first */
export const recursionText = (order: readonly NamedTemplate[]): string =>
  `${WORKFLOW} would result in recursion (spawn order, most recent first: ${order
    .map(({ id, name }) => `<${name}-${id}>`)
    .join(', ')})`;
