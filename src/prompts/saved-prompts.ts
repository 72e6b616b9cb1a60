import type { SecretBox } from '../common/crypto/secret-box.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { validate } from '../common/fields/validation.js';
import { isRecord } from '../common/records.js';
import type { Row } from '../common/resource/define-resource.js';
import type { ExtraColumns, Values } from '../common/rest/hooks.js';
import { refErrors } from './branch.js';
import { promptsOfBody, PromptsBody } from './launch-body.js';
import { listsIn, type PromptList, type Prompts } from './launch-options.js';
import { savedPrompts, STORED_PROMPTS } from './prompt-columns.js';
import { savedPromptErrors, type SavedTarget } from './saved-prompt-errors.js';
import { openAnswers, sealAnswers, type SavedRow, type SealedAnswers } from './saved-secrets.js';
import { secretVariables } from './survey.js';

type Variables = Record<string, unknown>;

/** A row with launch fields for future launches: a workflow node or a schedule. */
export interface SavedLaunch extends Row, Readonly<Record<PromptList, number[]>> {
  extra_data: Variables;
  survey_passwords: SealedAnswers;
}

/** Converts the result of `readExtraData` to variables. */
const asVariables = (value: unknown): Variables => (isRecord(value) ? value : {});

/** Values that reset the variables and every launch field with a column of a saved launch. */
export const NO_PROMPTS: Values = {
  ...Object.fromEntries(STORED_PROMPTS.map(([field]) => [field, null])),
  extra_data: {},
};

/**
 * Parses `extra_data` like the variables of a launch: an object, or its JSON or YAML text.
 *
 * @throws Invalid
 */
export function readExtraData(values: Readonly<Values>): { extra_data?: Variables } {
  if (!('extra_data' in values)) return {};
  try {
    const body = validate(PromptsBody, { extra_vars: values.extra_data });
    return { extra_data: promptsOfBody(body).extra_vars ?? {} };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    throw new Invalid({ extra_data: error.errors.extra_vars ?? ['Not a valid value.'] });
  }
}

/**
 * Returns the reasons why the template would not accept the saved values, by field of the saved
 * launch.
 *
 * @param values values of the request, with parsed `extra_data`
 * @param row current saved launch; empty for a new one
 */
export function savedFaults(
  values: Readonly<Values>,
  row: Partial<Row>,
  target: SavedTarget,
): FieldErrors {
  const prompts = promptsAfter(values, row);
  const stored = Object.keys(row.survey_passwords ?? {});
  const { extra_vars: variables, ...errors } = savedPromptErrors(target, prompts, stored);
  const faults = {
    ...refErrors(prompts),
    ...errors,
    ...(variables === undefined ? {} : { extra_data: variables }),
  };
  if (row.id === undefined || 'unified_job_template' in values) return faults;
  // The template can have changed since: fields outside of the request stay, and launches ignore them.
  const isSent = (field: string): boolean =>
    (field === 'variables_needed_to_start' ? 'extra_data' : field) in values;
  return Object.fromEntries(Object.entries(faults).filter(([field]) => isSent(field)));
}

function promptsAfter(values: Readonly<Values>, row: Partial<Row>): Prompts {
  const columns = STORED_PROMPTS.map(
    ([field, column]) => [column, field in values ? values[field] : row[column]] as const,
  );
  return {
    ...savedPrompts(Object.fromEntries(columns)),
    ...variablesIn(asVariables(values.extra_data ?? row.extra_data)),
  };
}

/**
 * Returns the variables of a saved launch in their stored form: masked, with the sealed answers in
 * a separate column.
 *
 * @param stored stored sealed answers of the row
 */
export function sealSaved(
  box: SecretBox,
  savedRow: SavedRow,
  values: Readonly<Values>,
  target: SavedTarget | null,
  stored: SealedAnswers = {},
): { values: { extra_data: Variables }; columns: ExtraColumns } {
  const secrets = target?.survey ? secretVariables(target.survey) : [];
  const variables = asVariables(values.extra_data);
  const { masked, sealed } = sealAnswers(box, savedRow, variables, secrets, stored);
  return { values: { extra_data: masked }, columns: { survey_passwords: JSON.stringify(sealed) } };
}

/**
 * Returns the prompts of a saved launch with decrypted secret answers.
 *
 * @param table table of the row
 * @throws UnsealError if they cannot be decrypted with the installation's keys
 */
export function openSaved(box: SecretBox, table: string, row: SavedLaunch): Prompts {
  const savedRow = { table, id: row.id };
  return {
    ...savedPrompts(row),
    ...variablesIn(openAnswers(box, savedRow, row.extra_data, row.survey_passwords)),
    ...listsIn(row),
  };
}

/** Returns variables as a launch field; without variables, the field is not set. */
export const variablesIn = (variables: Variables): Prompts =>
  Object.keys(variables).length > 0 ? { extra_vars: variables } : {};
