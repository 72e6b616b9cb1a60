import { plainJson } from '../common/exact-json.js';
import { ENCRYPTED, isStorable, isStorableJson } from '../common/fields/text.js';
import { isRecord } from '../common/records.js';
import { typeName } from '../common/fields/fault-texts.js';
import {
  choicesOf,
  MAX_CHOICES,
  QUESTION_TYPES,
  type QuestionType,
  type Survey,
  type SurveyQuestion,
} from './survey.js';

/**
 * Error for an invalid survey; `message` is the contract's text, which counts questions from zero
 * (docs/contract/launching.md#surveys).
 */
export class SurveyError extends Error {
  override readonly name = 'SurveyError';
  /** Error text for forms, which counts questions from one; null if the text names no question. */
  readonly inForm: string | null;

  /** @param text error text; a function gets the number of the faulty question */
  constructor(text: string | ((number: number) => string), index = 0) {
    super(typeof text === 'string' ? text : text(index));
    this.inForm = typeof text === 'string' ? null : text(index + 1);
  }
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_QUESTIONS = 200;
/** Maximum JSON size of all questions, in characters: every launch reads them. */
const MAX_SPEC_LENGTH = 131_072;

/**
 * Parses the survey of a request.
 *
 * @param previous stored survey with decrypted defaults: a password default sent as `$encrypted$`
 *   is kept
 * @throws SurveyError
 */
export function readSurvey(body: Record<string, unknown>, previous: Survey | null): Survey {
  for (const key of ['name', 'description', 'spec']) {
    if (!Object.hasOwn(body, key))
      throw new SurveyError(`Field '${key}' is missing from survey spec.`);
  }
  const { name, description, spec } = body;
  assertText('name', name);
  assertText('description', description);
  if (!Array.isArray(spec)) {
    throw new SurveyError(`Expected list for field 'spec', received ${typeName(spec)} type.`);
  }
  if (spec.length === 0) throw new SurveyError("'spec' doesn't contain any items.");
  if (spec.length > MAX_QUESTIONS) {
    throw new SurveyError(`'spec' may contain at most ${MAX_QUESTIONS} items.`);
  }
  if (!isStorableJson(spec)) throw new SurveyError('Null characters are not allowed.');
  if (JSON.stringify(spec).length > MAX_SPEC_LENGTH) {
    throw new SurveyError(`'spec' may have at most ${MAX_SPEC_LENGTH} characters.`);
  }
  const seen = new Set<string>();
  const questions = spec.map((item: unknown, index) => readQuestion(item, index, seen, previous));
  return { name, description, spec: questions };
}

function assertText(field: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') {
    throw new SurveyError(
      `Expected string for field '${field}', received ${typeName(value)} type.`,
    );
  }
  if (!isStorable(value)) throw new SurveyError('Null characters are not allowed.');
}

function readQuestion(
  sent: unknown,
  index: number,
  seen: Set<string>,
  previous: Survey | null,
): SurveyQuestion {
  if (!isRecord(sent)) {
    throw new SurveyError((number) => `Survey question ${number} is not a json object.`, index);
  }
  const type = readType(sent, index);
  assertQuestionText(sent, 'question_name', index);
  assertQuestionText(sent, 'variable', index);
  const variable = String(sent.variable);
  if (!VARIABLE.test(variable)) {
    throw new SurveyError(
      (number) => `'variable' '${variable}' in survey question ${number} is not a valid name.`,
      index,
    );
  }
  if (seen.has(variable)) {
    throw new SurveyError(
      (number) => `'variable' '${variable}' duplicated in survey question ${number}.`,
      index,
    );
  }
  seen.add(variable);
  if (sent.required !== undefined && typeof sent.required !== 'boolean') {
    throw new SurveyError(
      (number) => `'required' in survey question ${number} expected to be boolean.`,
      index,
    );
  }
  const question = { ...sent, type, variable } as SurveyQuestion;
  checkLimits(question, index);
  checkChoices(question, index);
  keepDefault(question, index, previous);
  checkDefault(question, index);
  return question;
}

function readType(sent: Record<string, unknown>, index: number): QuestionType {
  assertQuestionText(sent, 'type', index);
  const type = QUESTION_TYPES.find((known) => known === sent.type);
  if (!type) {
    const allowed = QUESTION_TYPES.join(', ');
    throw new SurveyError(
      (number) =>
        `'${String(sent.type)}' in survey question ${number} is not one of '${allowed}' allowed question types.`,
      index,
    );
  }
  return type;
}

function assertQuestionText(sent: Record<string, unknown>, key: string, index: number): void {
  if (sent[key] === undefined || sent[key] === '') {
    throw new SurveyError((number) => `'${key}' missing from survey question ${number}`, index);
  }
  if (typeof sent[key] !== 'string') {
    throw new SurveyError(
      (number) => `'${key}' in survey question ${number} expected to be string.`,
      index,
    );
  }
}

/** Forms send empty texts for limits that are not set. */
function checkLimits(question: SurveyQuestion, index: number): void {
  for (const limit of ['min', 'max'] as const) {
    const value = plainJson(question[limit]);
    if (value === undefined || value === null) continue;
    const isFloat = question.type === 'float';
    if (value === '') question[limit] = null;
    else if (isFloat ? Number.isFinite(value) : Number.isInteger(value)) {
      question[limit] = Number(value);
    } else {
      const expected = isFloat ? 'number' : 'integer';
      throw new SurveyError(
        (number) => `The ${limit} limit in survey question ${number} expected to be ${expected}.`,
        index,
      );
    }
  }
}

const isChoice = ({ type }: SurveyQuestion): boolean =>
  type === 'multiplechoice' || type === 'multiselect';

function checkChoices(question: SurveyQuestion, index: number): void {
  if (!isChoice(question)) return;
  const { choices } = question;
  const isList = Array.isArray(choices) && choices.every((choice) => typeof choice === 'string');
  const count = isList || typeof choices === 'string' ? choicesOf(question).length : 0;
  if (count === 0) {
    throw new SurveyError(
      (number) => `Survey question ${number} of type ${question.type} must specify choices.`,
      index,
    );
  }
  if (count > MAX_CHOICES) {
    throw new SurveyError(
      (number) => `Survey question ${number} may have at most ${MAX_CHOICES} choices.`,
      index,
    );
  }
}

function keepDefault(question: SurveyQuestion, index: number, previous: Survey | null): void {
  if (question.default !== ENCRYPTED) return;
  const storedQuestion = previous?.spec.find(({ variable }) => variable === question.variable);
  if (question.type !== 'password' || storedQuestion?.type !== 'password') {
    throw new SurveyError(
      (number) =>
        `${ENCRYPTED} is a reserved keyword for password question defaults, survey question ${number} is type ${question.type}.`,
      index,
    );
  }
  question.default = storedQuestion.default;
}

function checkDefault(question: SurveyQuestion, index: number): void {
  const value = plainJson(question.default);
  if (value === undefined || value === null || value === '') return;
  const expected = (type: string): SurveyError =>
    new SurveyError(
      (number) =>
        `Default value ${question.type === 'password' ? ENCRYPTED : JSON.stringify(value)} in survey question ${number} expected to be ${type}.`,
      index,
    );
  if (question.type === 'integer' && !Number.isInteger(value)) throw expected('integer');
  if (question.type === 'float' && typeof value !== 'number') throw expected('float');
  if (['text', 'textarea', 'password'].includes(question.type) && typeof value !== 'string') {
    throw expected('string');
  }
  if (isChoice(question)) {
    const isList = Array.isArray(value) && value.every((choice) => typeof choice === 'string');
    if (!isList && typeof value !== 'string') throw expected('string');
    checkDefaultChoice(question);
  }
}

function checkDefaultChoice(question: SurveyQuestion): void {
  const chosen = choicesOf({ choices: question.default as string | string[] });
  if (question.type === 'multiplechoice' && chosen.length > 1) {
    throw new SurveyError('Multiple Choice (Single Select) can only have one default value.');
  }
  const choices = new Set(choicesOf(question));
  if (chosen.some((choice) => !choices.has(choice))) {
    throw new SurveyError('Default choice must be answered from the choices listed.');
  }
}
