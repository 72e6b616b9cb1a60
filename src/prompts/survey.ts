/** Marks a secret that is kept as it is. */
export const ENCRYPTED = '$encrypted$';

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
 * One question of a survey in the shape that is stored and shown
 * (docs/contract/launching.md#surveys).
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

/** Choices as a list, whichever way they are written. */
export function choicesOf({ choices }: Pick<SurveyQuestion, 'choices'>): string[] {
  const list = typeof choices === 'string' ? choices.split('\n') : (choices ?? []);
  return list.map((choice) => choice.trim()).filter((choice) => choice !== '');
}

/** Whether a question fills its variable when it is not answered. */
export const hasDefault = ({ default: value }: SurveyQuestion): boolean =>
  value !== undefined && value !== null && value !== '';

/** Variables of the questions that must be answered. */
export const requiredVariables = ({ spec }: Survey): string[] =>
  spec.filter((one) => one.required === true && !hasDefault(one)).map(({ variable }) => variable);

export const secretVariables = ({ spec }: Survey): string[] =>
  spec.filter(({ type }) => type === 'password').map(({ variable }) => variable);

/** What is wrong with the answers, one text each (docs/contract/launching.md#answers). */
export function answerErrors(survey: Survey, answers: Readonly<Record<string, unknown>>): string[] {
  return survey.spec.flatMap((question) => {
    const { variable } = question;
    const isGiven = Object.hasOwn(answers, variable) && !isKept(question, answers[variable]);
    if (isGiven) return valueErrors(question, answers[variable]);
    return question.required === true && !hasDefault(question)
      ? [`'${variable}' value missing`]
      : [];
  });
}

/** A password sent back as it was shown stands for the default. */
const isKept = ({ type }: SurveyQuestion, value: unknown): boolean =>
  type === 'password' && value === ENCRYPTED;

/** Defaults that are valid answers, by variable; an invalid default is as good as none. */
export function defaultAnswers({ spec }: Survey): Record<string, unknown> {
  const usable = spec.filter(
    (one) => hasDefault(one) && valueErrors(one, defaultOf(one)).length === 0,
  );
  return Object.fromEntries(usable.map((one) => [one.variable, defaultOf(one)]));
}

/** The default as an answer: several choices are written one a line. */
function defaultOf(question: SurveyQuestion): unknown {
  const value = question.default;
  return question.type === 'multiselect' && typeof value === 'string'
    ? choicesOf({ choices: value })
    : value;
}

/** Faults of one answer. An empty answer to an optional question is none. */
export function valueErrors(question: SurveyQuestion, value: unknown): string[] {
  const { variable, type } = question;
  if (value === '' && question.required !== true && type !== 'multiselect') return [];
  switch (type) {
    case 'text':
    case 'textarea':
    case 'password':
      return textErrors(question, value);
    case 'integer':
      return Number.isInteger(value) && typeof value === 'number'
        ? boundErrors(question, value)
        : [`Value ${shown(question, value)} for '${variable}' expected to be an integer.`];
    case 'float':
      return typeof value === 'number'
        ? boundErrors(question, value)
        : [`Value ${shown(question, value)} for '${variable}' expected to be a numeric type.`];
    case 'multiplechoice':
      return choiceErrors(question, value);
    case 'multiselect':
      return Array.isArray(value)
        ? value.flatMap((one) => choiceErrors(question, one))
        : [`'${variable}' value is expected to be a list.`];
  }
}

function textErrors(question: SurveyQuestion, value: unknown): string[] {
  const { variable, min, max } = question;
  if (typeof value !== 'string') {
    return [`Value ${shown(question, value)} for '${variable}' expected to be a string.`];
  }
  const { length } = [...value];
  const told = shown(question, value);
  if (typeof min === 'number' && length < min) {
    return [
      `'${variable}' value ${told} is too small (length is ${length} must be at least ${min}).`,
    ];
  }
  if (typeof max === 'number' && length > max) {
    return [`'${variable}' value ${told} is too large (must be no more than ${max}).`];
  }
  return [];
}

function boundErrors({ variable, min, max }: SurveyQuestion, value: number): string[] {
  if (typeof min === 'number' && value < min) {
    return [`'${variable}' value ${value} is too small (must be at least ${min}).`];
  }
  if (typeof max === 'number' && value > max) {
    return [`'${variable}' value ${value} is too large (must be no more than ${max}).`];
  }
  return [];
}

function choiceErrors(question: SurveyQuestion, value: unknown): string[] {
  const choices = choicesOf(question);
  if (typeof value === 'string' && choices.includes(value)) return [];
  const list = choices.map((choice) => `'${choice}'`).join(', ');
  return [
    `Value ${shown(question, value)} for '${question.variable}' expected to be one of [${list}].`,
  ];
}

/** Passwords never stand in an error. */
function shown({ type }: SurveyQuestion, value: unknown): string {
  if (type === 'password') return ENCRYPTED;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
