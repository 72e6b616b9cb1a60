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
import { ASK_SWITCHES, PROMPT_FIELDS, type PromptField } from './launch-options.js';
import { PROMPTS_BODY_FIELDS } from './launch-body.js';
import {
  choicesOf,
  defaultOf,
  hasDefault,
  QUESTION_TYPES,
  type Survey,
  type SurveyQuestion,
} from './survey.js';

/** The answer to GET of a launch: besides this the switches, and what is in the way of a launch. */
export interface LaunchAnswer {
  readonly defaults: Readonly<Partial<Record<PromptField, unknown>>>;
  /** Absent for kinds of templates that have no credentials. */
  readonly passwords_needed_to_start?: readonly string[];
  readonly [further: string]: unknown;
}

/** What a launch asks for, as the answer to GET of its URL tells it. */
export interface LaunchNeeds {
  defaults: LaunchAnswer['defaults'];
  passwords: readonly string[];
  asks(field: PromptField): boolean;
}

/** Reads the answer to GET of a launch. */
export const needsOf = (answer: LaunchAnswer): LaunchNeeds => ({
  defaults: answer.defaults,
  passwords: answer.passwords_needed_to_start ?? [],
  asks: (field) => answer[ASK_SWITCHES[field]] === true,
});

/**
 * The fields of the form that launches a template: what the template asks for, filled with what it
 * would use itself, the questions of its survey, and the passwords its credentials lack.
 */
export function launchForm(needs: LaunchNeeds, survey: Survey | null): Field[] {
  const asked = PROMPTS_BODY_FIELDS.flatMap((field) => {
    const prompt = PROMPT_FIELDS.find((name) => name === field.name);
    if (!prompt || !needs.asks(prompt)) return [];
    // What a person empties is meant to be empty: null would stand for the template's own value.
    return [{ ...field, nullable: false, default: plain(needs.defaults[prompt]) }];
  });
  const questions = survey?.spec.map(questionField) ?? [];
  return [...asked, ...questions, ...passwordFields(needs.passwords)];
}

/** Inputs for the passwords that credentials ask for, by the names the API gives them. */
export const passwordFields = (names: readonly string[]): Field[] =>
  names.map((name) => ({
    ...INPUTS.password,
    name: `credential_passwords.${name}`,
    label: labelOf(name).replace(/^Ssh\b/, 'SSH'),
    required: true,
  }));

/** References as the ids that are sent for them. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return isRecord(value) ? value.id : value;
}

/** One input for each type of question. */
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
    // Without an answer and without a default the variable is not set at all.
    nullable: !hasDefault(question),
    default: shownDefault(question),
    choices: type.startsWith('multi') ? choicesOf(question).map((one) => [one, one] as const) : [],
    min,
    max,
  };
}

function shownDefault(question: SurveyQuestion): unknown {
  if (!hasDefault(question)) return '';
  return question.type === 'password' ? ENCRYPTED : defaultOf(question);
}
