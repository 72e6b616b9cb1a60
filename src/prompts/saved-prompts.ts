import type { SecretBox } from '../common/crypto/secret-box.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { invalidPk } from '../common/fields/fault-texts.js';
import { isRecord } from '../common/records.js';
import type { Row } from '../common/resource/define-resource.js';
import type { ExtraColumns, Values } from '../common/rest/hooks.js';
import { refErrors } from './branch.js';
import { readPrompts } from './launch-body.js';
import { listsIn, promptsIn, type PromptList, type Prompts } from './launch-options.js';
import { STORED_PROMPTS, storedPrompts } from './prompt-columns.js';
import { savedPromptErrors, type SavedTarget } from './saved-prompt-errors.js';
import { openAnswers, sealAnswers, type SavedRow, type SealedAnswers } from './saved-secrets.js';
import { secretVariables } from './survey.js';

type Variables = Record<string, unknown>;

/** A row that keeps launch fields for launches to come: a node of a workflow, or a schedule. */
export interface SavedLaunch extends Row, Readonly<Record<PromptList, number[]>> {
  extra_data: Variables;
  survey_passwords: SealedAnswers;
}

/** Variables in the form that `readExtraData` brings them into. */
const asVariables = (value: unknown): Variables => (isRecord(value) ? value : {});

/** Values that take every launch field off a saved launch. */
export const NO_PROMPTS: Values = {
  ...Object.fromEntries(STORED_PROMPTS.map(([field]) => [field, null])),
  extra_data: {},
};

/**
 * Values with `extra_data` in its form: it is read as the variables of a launch are, an object, or its
 * JSON or YAML text.
 *
 * @throws Invalid
 */
export function readExtraData(values: Readonly<Values>): { extra_data?: Variables } {
  if (!('extra_data' in values)) return {};
  try {
    return { extra_data: readPrompts({ extra_vars: values.extra_data }).extra_vars ?? {} };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    throw new Invalid({ extra_data: error.errors.extra_vars ?? ['Not a valid value.'] });
  }
}

/**
 * Why the template would not take what a request saves, by field of the saved launch.
 *
 * @param values of the request, `extra_data` in its form
 * @param row the saved launch as it is, if there is one
 */
export function savedFaults(
  values: Readonly<Values>,
  row: Partial<Row>,
  target: SavedTarget,
): FieldErrors {
  const prompts = promptsAfter(values, row);
  const { extra_vars: variables, ...errors } = savedPromptErrors(target, prompts);
  const environment = prompts.execution_environment;
  return {
    ...refErrors(prompts),
    // There are none, so none can be named.
    ...(environment === undefined ? {} : { execution_environment: [invalidPk(environment)] }),
    ...errors,
    ...(variables === undefined ? {} : { extra_data: variables }),
  };
}

function promptsAfter(values: Readonly<Values>, row: Partial<Row>): Prompts {
  const columns = STORED_PROMPTS.map(
    ([field, column]) => [column, field in values ? values[field] : row[column]] as const,
  );
  return {
    ...storedPrompts(Object.fromEntries(columns)),
    ...promptsIn(values, ['execution_environment']),
    ...variablesIn(asVariables(values.extra_data ?? row.extra_data)),
  };
}

/**
 * The variables of a saved launch as they are stored: masked, and the sealed answers beside them.
 *
 * @param former sealed answers that the row has stored
 */
export function sealSaved(
  box: SecretBox,
  place: SavedRow,
  values: Readonly<Values>,
  target: SavedTarget | null,
  former: SealedAnswers = {},
): { values: { extra_data: Variables }; columns: ExtraColumns } {
  const secrets = target?.survey ? secretVariables(target.survey) : [];
  const variables = asVariables(values.extra_data);
  const { shown, sealed } = sealAnswers(box, place, variables, secrets, former);
  return { values: { extra_data: shown }, columns: { survey_passwords: JSON.stringify(sealed) } };
}

/**
 * The prompts of a saved launch, its secret answers in clear.
 *
 * @param table the one the row stands in
 * @throws UnsealError when they cannot be opened with the installation's keys
 */
export function openSaved(box: SecretBox, table: string, row: SavedLaunch): Prompts {
  const place = { table, id: row.id };
  return {
    ...storedPrompts(row),
    ...variablesIn(openAnswers(box, place, row.extra_data, row.survey_passwords)),
    ...listsIn(row),
  };
}

/** Variables as launch fields; without any the field is not set. */
export const variablesIn = (variables: Variables): Prompts =>
  Object.keys(variables).length > 0 ? { extra_vars: variables } : {};
