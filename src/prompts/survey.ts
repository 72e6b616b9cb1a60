import { ExactNumber } from '../common/exact-json.js';
import { ENCRYPTED } from '../common/fields/text.js';

export const QUESTION_TYPES = [
  'text',
  'textarea',
  'password',
  'multiplechoice',
  'multiselect',
  'integer',
  'float',
] as const;
export type QuestionType = (typeof QUESTION_TYPES)[number];

/**
 * One question of a survey in its stored and displayed form (docs/contract/launching.md#surveys).
 */
export interface SurveyQuestion {
  question_name: string;
  question_description?: string;
  variable: string;
  type: QuestionType;
  required?: boolean;
  default?: unknown;
  min?: number | null;
  max?: number | null;
  choices?: string | string[];
  [further: string]: unknown;
}

export interface Survey {
  name: string;
  description: string;
  spec: SurveyQuestion[];
}

/** Maximum length of a text answer. */
const MAX_ANSWER_LENGTH = 65_536;
/** Maximum number of values in a list answer, and of a question's choices. */
export const MAX_CHOICES = 1000;

/** Maximum number of wrong values reported for an answer, and of choices listed for each value. */
const SHOWN_VALUES = 10;
const SHOWN_CHOICES = 100;

/** Returns choices as a list, from either notation. */
export function choicesOf({ choices }: Pick<SurveyQuestion, 'choices'>): string[] {
  const list = typeof choices === 'string' ? choices.split('\n') : (choices ?? []);
  return list.map((choice) => choice.trim()).filter((choice) => choice !== '');
}

const choiceSets = new WeakMap<SurveyQuestion, ReadonlySet<string>>();

/** Returns the choices of a stored question; they are computed once per question. */
function choiceSetOf(question: SurveyQuestion): ReadonlySet<string> {
  const cached = choiceSets.get(question) ?? new Set(choicesOf(question));
  choiceSets.set(question, cached);
  return cached;
}

/** Returns true if a question sets its variable without an answer. */
export const hasDefault = ({ default: value }: SurveyQuestion): boolean =>
  value !== undefined && value !== null && value !== '';

/** Returns true for a question without an answer by default. A default that is no valid answer is not used. */
const isRequired = (survey: Survey, { required, variable }: SurveyQuestion): boolean =>
  required === true && !Object.hasOwn(defaultAnswers(survey), variable);

/** Returns the variables of questions that require an answer. */
export const requiredVariables = (survey: Survey): string[] =>
  survey.spec.filter((question) => isRequired(survey, question)).map(({ variable }) => variable);

export const secretVariables = ({ spec }: Survey): string[] =>
  spec.filter(({ type }) => type === 'password').map(({ variable }) => variable);

/**
 * Returns the faults of the answers, one text each (docs/contract/launching.md#answers).
 *
 * @param secretNames names of secret answers besides those to password questions
 */
export function answerErrors(
  survey: Survey,
  answers: Readonly<Record<string, unknown>>,
  secretNames: readonly string[] = [],
): string[] {
  return survey.spec.flatMap((question) => {
    const { variable } = question;
    const isAnswered = Object.hasOwn(answers, variable) && !isMasked(question, answers[variable]);
    if (isAnswered) {
      return valueErrors(question, answers[variable], secretNames.includes(variable));
    }
    return isRequired(survey, question) ? [missing(variable)] : [];
  });
}

/** Returns true for a masked password, which selects the default. */
const isMasked = ({ type }: SurveyQuestion, value: unknown): boolean =>
  type === 'password' && value === ENCRYPTED;

const defaultsOf = new WeakMap<Survey, Readonly<Record<string, unknown>>>();

/**
 * Returns the defaults that are valid answers, by variable. The result is cached, because a bulk
 * launch uses one survey a hundred times.
 */
export function defaultAnswers(survey: Survey): Readonly<Record<string, unknown>> {
  const cached = defaultsOf.get(survey) ?? computeDefaults(survey);
  defaultsOf.set(survey, cached);
  return cached;
}

function computeDefaults({ spec }: Survey): Record<string, unknown> {
  const answers = spec
    .filter(hasDefault)
    .map((question) => ({ question, value: questionDefaultOf(question) }))
    .filter(({ question, value }) => valueErrors(question, value).length === 0);
  return Object.fromEntries(answers.map(({ question, value }) => [question.variable, value]));
}

/** Returns the default as an answer: several choices are stored one per line. */
export function questionDefaultOf(question: SurveyQuestion): unknown {
  const value = question.default;
  return question.type === 'multiselect' && typeof value === 'string'
    ? choicesOf({ choices: value })
    : value;
}

const missing = (variable: string): string => `'${variable}' value missing`;

/**
 * Returns the faults of one answer. Null means that the question is not answered. Optional questions, except
 * multiselect, accept an empty text.
 *
 * @param isSecret true to mask the answer, as for passwords
 */
export function valueErrors(question: SurveyQuestion, answer: unknown, isSecret = false): string[] {
  const value = answer instanceof ExactNumber ? answer.valueOf() : answer;
  const { variable, type } = question;
  const shown = isSecret || type === 'password' ? () => ENCRYPTED : textOf;
  if (value === null) return [];
  const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
  if (isEmpty && question.required === true) return [missing(variable)];
  if (value === '' && type !== 'multiselect') return [];
  switch (type) {
    case 'text':
    case 'textarea':
    case 'password':
      return textErrors(question, value, shown);
    case 'integer':
      return Number.isInteger(value) && typeof value === 'number'
        ? boundErrors(question, value, shown)
        : [`Value ${shown(value)} for '${variable}' expected to be an integer.`];
    case 'float':
      return typeof value === 'number'
        ? boundErrors(question, value, shown)
        : [`Value ${shown(value)} for '${variable}' expected to be a numeric type.`];
    case 'multiplechoice':
      return choiceErrors(question, value, shown);
    case 'multiselect':
      return selectionErrors(question, value, shown);
  }
}

function selectionErrors(question: SurveyQuestion, value: unknown, shown: Show): string[] {
  const { variable } = question;
  if (!Array.isArray(value)) return [`'${variable}' value is expected to be a list.`];
  if (value.length > MAX_CHOICES) {
    return [`'${variable}' value has too many items (must be no more than ${MAX_CHOICES}).`];
  }
  const errors: string[] = [];
  for (const item of value) {
    errors.push(...choiceErrors(question, item, shown));
    if (errors.length >= SHOWN_VALUES) break;
  }
  return errors;
}

function textErrors(question: SurveyQuestion, value: unknown, shown: Show): string[] {
  const { variable, min, max } = question;
  if (typeof value !== 'string') {
    return [`Value ${shown(value)} for '${variable}' expected to be a string.`];
  }
  if (value.length > MAX_ANSWER_LENGTH) {
    return [`'${variable}' value is too long (must be no more than ${MAX_ANSWER_LENGTH}).`];
  }
  const { length } = [...value];
  const shownValue = shown(value);
  if (typeof min === 'number' && length < min) {
    return [
      `'${variable}' value ${shownValue} is too small (length is ${length} must be at least ${min}).`,
    ];
  }
  if (typeof max === 'number' && length > max) {
    return [`'${variable}' value ${shownValue} is too large (must be no more than ${max}).`];
  }
  return [];
}

function boundErrors({ variable, min, max }: SurveyQuestion, value: number, shown: Show): string[] {
  if (typeof min === 'number' && value < min) {
    return [`'${variable}' value ${shown(value)} is too small (must be at least ${min}).`];
  }
  if (typeof max === 'number' && value > max) {
    return [`'${variable}' value ${shown(value)} is too large (must be no more than ${max}).`];
  }
  return [];
}

function choiceErrors(question: SurveyQuestion, value: unknown, shown: Show): string[] {
  const choices = choiceSetOf(question);
  if (typeof value === 'string' && choices.has(value)) return [];
  const choiceList = [...choices].slice(0, SHOWN_CHOICES).map((choice) => `'${choice}'`);
  if (choices.size > choiceList.length) choiceList.push('...');
  return [
    `Value ${shown(value)} for '${question.variable}' expected to be one of [${choiceList.join(', ')}].`,
  ];
}

/** Returns an answer for an error text. */
type Show = (value: unknown) => string;

const textOf: Show = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
