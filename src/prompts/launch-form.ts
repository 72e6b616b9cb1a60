import {
  Char,
  Choices,
  fieldsOf,
  Float,
  Integer,
  Json,
  SecretText,
  Text,
  type Field,
} from '../common/fields/field.js';
import { labelOf } from '../common/fields/label.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { entryOf } from '../common/invariants.js';
import { isRecord, tableOf } from '../common/records.js';
import type { Row } from '../common/resource/define-resource.js';
import { ALL_OPEN, NOTHING_OPEN, type Caller, type OpenParts } from '../common/rest/route.js';
import { ASK_SWITCHES, PROMPT_FIELDS, type PromptField } from './launch-options.js';
import { PROMPTS_BODY_FIELDS } from './launch-body.js';
import {
  choicesOf,
  questionDefaultOf,
  hasDefault,
  QUESTION_TYPES,
  type Survey,
  type SurveyQuestion,
} from './survey.js';

/**
 * Response to GET of a launch. The further members are the switches and the requirements of the launch.
 */
export interface LaunchResponse {
  readonly defaults: Readonly<Partial<Record<PromptField, unknown>>>;
  /** Passwords; absent for kinds of templates without credentials. */
  readonly passwords_needed_to_start?: readonly string[];
  readonly [further: string]: unknown;
}

/** The prompts of a launch, from the response to GET of its URL. */
export interface LaunchPrompts {
  defaults: LaunchResponse['defaults'];
  passwords: readonly string[];
  promptsFor(field: PromptField): boolean;
}

/** Parses the response to GET of a launch. */
export const launchPromptsOf = (response: LaunchResponse): LaunchPrompts => ({
  defaults: response.defaults,
  passwords: response.passwords_needed_to_start ?? [],
  promptsFor: (field) => response[ASK_SWITCHES[field]] === true,
});

/**
 * Returns the fields of a launch form: the template's prompts with the template's own values, the
 * questions of its survey, and the missing passwords of its credentials.
 */
export function launchForm(prompts: LaunchPrompts, survey: Survey | null): Field[] {
  const prompted = PROMPTS_BODY_FIELDS.flatMap((field) => {
    const name = PROMPT_FIELDS.find((prompt) => prompt === field.name);
    if (!name || !prompts.promptsFor(name)) return [];
    // A field that the user clears is sent as empty: null would select the template's own value.
    return [{ ...field, nullable: false, default: withIds(prompts.defaults[name]) }];
  });
  const questions = survey?.spec.map(questionField) ?? [];
  return [...prompted, ...questions, ...passwordFields(prompts.passwords)];
}

/** Returns the `openParts` option of a route whose form depends on the object in the URL. */
export const formOf =
  <Rules>(fields: (caller: Caller<Rules> & { parent: Row }) => Promise<Field[]>) =>
  async (caller: Caller<Rules>): Promise<OpenParts> => {
    const { parent } = caller;
    if (!parent) return NOTHING_OPEN;
    return { ...ALL_OPEN, fields: await fields({ ...caller, parent }) };
  };

/** Returns inputs for the passwords that credentials prompt for, by their API names. */
export const passwordFields = (names: readonly string[]): Field[] =>
  names.map((name) => ({
    ...INPUTS.password,
    name: `credential_passwords.${name}`,
    label: labelOf(name).replace(/^Ssh\b/, 'SSH'),
    required: true,
  }));

/** Replaces references by the ids to send. */
function withIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIds);
  return isRecord(value) ? value.id : value;
}

/** Inputs by type of question. */
class QuestionInputs {
  @Char()
  text!: string;
  @Text()
  textarea!: string;
  @SecretText()
  password!: string;
  @Choices([])
  multiplechoice!: string;
  @Json({ default: [] })
  multiselect!: string[];
  @Integer()
  integer!: number;
  @Float()
  float!: number;
}

const FIELDS = new Map(fieldsOf(QuestionInputs).map((field) => [field.name, field]));
const INPUTS = tableOf(QUESTION_TYPES, (type) => entryOf(FIELDS, type));

function questionField(question: SurveyQuestion): Field {
  const { variable, type, min = null, max = null } = question;
  const required = question.required === true;
  return {
    ...INPUTS[type],
    name: `extra_vars.${variable}`,
    label: question.question_name,
    help: question.question_description ?? '',
    required,
    blank: !required,
    // Without an answer and a default the variable remains unset.
    nullable: !hasDefault(question),
    default: shownDefault(question),
    choices: type.startsWith('multi')
      ? choicesOf(question).map((text) => [text, text] as const)
      : [],
    min,
    max,
  };
}

function shownDefault(question: SurveyQuestion): unknown {
  if (!hasDefault(question)) return '';
  return question.type === 'password' ? ENCRYPTED : questionDefaultOf(question);
}
