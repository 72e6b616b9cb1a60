import { invalidPk } from '../common/fields/validate.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import type { Values } from '../common/rest/hooks.js';
import type { Row } from '../common/resource/define-resource.js';
import { readLaunchBody } from '../prompts/launch-body.js';
import type { Prompts } from '../prompts/launch-options.js';
import { savedPromptErrors, type SavedTarget } from '../prompts/saved-prompts.js';
import { STORED_PROMPTS, storedPrompts } from '../prompts/prompt-columns.js';

/** The launch fields that a stored node sets; what hangs on it as lists is not among them. */
export function promptsOfNode(row: Row): Prompts {
  const variables = row.extra_data as Record<string, unknown>;
  return {
    ...storedPrompts(row),
    ...(Object.keys(variables).length > 0 ? { extra_vars: variables } : {}),
  };
}

/** What a node is after a request. @param row the stored node, if there is one */
export function nodeAfter(values: Values, row: Partial<Row>): Row {
  const columns = STORED_PROMPTS.map(
    ([field, column]) => [column, field in values ? values[field] : row[column]] as const,
  );
  return {
    id: 0,
    ...Object.fromEntries(columns),
    extra_data: values.extra_data ?? row.extra_data ?? {},
  };
}

/** The values that take every launch field off a node. */
export const NO_PROMPTS: Values = {
  ...Object.fromEntries(STORED_PROMPTS.map(([field]) => [field, null])),
  extra_data: {},
};

/** Reads `extra_data` as the variables of a launch are read: an object, or its JSON or YAML text. */
export function readExtraData(given: unknown): Record<string, unknown> {
  try {
    return readLaunchBody({ extra_vars: given }).prompts.extra_vars ?? {};
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    throw new Invalid({ extra_data: error.errors.extra_vars ?? ['Not a valid value.'] });
  }
}

/** Why the template would not take what the node sets, by field of the node. */
export function nodePromptErrors(target: SavedTarget, prompts: Prompts): FieldErrors {
  const { extra_vars: variables, ...errors } = savedPromptErrors(target, prompts);
  const environment = prompts.execution_environment;
  return {
    ...errors,
    ...(variables === undefined ? {} : { extra_data: variables }),
    // There are none, so none can be named.
    ...(environment !== undefined && !('execution_environment' in errors)
      ? { execution_environment: [invalidPk(environment)] }
      : {}),
  };
}
